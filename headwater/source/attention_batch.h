// The attention arrays of a file or of a caller as a batch of sources.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/source/arrays.h"
#include "headwater/source/axes.h"
#include "headwater/source/source.h"

namespace headwater {

class AttentionBatch : public Batch {
 public:
  /// Throws Error where the shapes, the mask or the tokens do not fit one another. Reads no
  /// attention yet.
  AttentionBatch(Arrays arrays, ReadOptions options);

  int size() const override { return stack_.items; }
  std::unique_ptr<Source> item(int k) override;
  std::string reading() const override;

 private:
  friend class AttentionSource;
  Arrays arrays_;
  ReadOptions options_;
  Stack stack_;
  std::vector<double> mask_;  // empty, n, or items x n
};

}  // namespace headwater
