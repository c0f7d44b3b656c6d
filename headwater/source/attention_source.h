// One item of a batch of attention arrays, read layer by layer, heads fused on the way.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/source/attention_batch.h"

namespace headwater {

class AttentionSource : public Source {
 public:
  /// Item `item` of what a batch has and says of itself. Crops padding by its mask. Throws Error if
  /// no token is left.
  AttentionSource(std::shared_ptr<AttentionBatch::Shared> shared, Description description,
                  int item);

  const Description& description() const override { return description_; }
  void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) override;
  std::vector<std::string> notes() const override;

 private:
  struct Pass;  // over one layer
  std::shared_ptr<AttentionBatch::Shared> shared_;
  Description description_;
  std::vector<int> kept_;  // the real positions
  bool run_ = true;        // they lie side by side
  long mended_ = 0;        // bad rows of heads replaced in the pass over the layers so far
};

}  // namespace headwater
