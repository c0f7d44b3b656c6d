// Attention arrays, from a file or a caller, as a batch of sources.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/source/arrays.h"
#include "headwater/source/axes.h"
#include "headwater/source/read_options.h"
#include "headwater/source/source.h"

namespace headwater {

class AttentionBatch : public Batch {
 public:
  /// Throws Error if shapes, mask and tokens do not match. Reads no attention yet.
  AttentionBatch(Arrays arrays, ReadOptions options);

  const Description& description() const override { return description_; }
  int size() const override { return shared_->stack.items; }
  std::unique_ptr<Source> item(int k) override;
  std::string reading() const override;

  /// What the items share.
  struct Shared {
    Arrays arrays;
    ReadOptions options;
    Stack stack;
    std::vector<double> mask;  // empty, n, or items x n
  };

 private:
  std::shared_ptr<Shared> shared_;
  Description description_;
};

}  // namespace headwater
