// One item of a batch of attention arrays, read layer by layer, heads fused on the way.
#pragma once
#include <string>
#include <vector>

#include "headwater/source/attention_batch.h"

namespace headwater {

class AttentionSource : public Source {
 public:
  /// Crops padding by the batch's mask. Throws Error if no token is left.
  AttentionSource(AttentionBatch& batch, int item);

  const Example& example() const override { return example_; }
  void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) override;
  std::vector<std::string> notes() const override;

 private:
  struct Pass;  // over one layer
  AttentionBatch& batch_;
  Example example_;
  std::vector<int> kept_;  // the real positions
  bool run_ = true;        // they lie side by side
  long mended_ = 0;        // bad rows of heads replaced in the pass over the layers so far
};

}  // namespace headwater
