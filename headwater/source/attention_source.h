// One item of a batch of attention arrays: reads layer by layer and fuses heads as it reads.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/source/attention_batch.h"

namespace headwater {

class AttentionSource : public Source {
 public:
  /// Item `item` of a batch with this data and description. Crops padding by the mask. Throws Error
  /// if no token is left.
  AttentionSource(std::shared_ptr<AttentionBatch::Shared> shared, Description description,
                  int item);

  const Description& description() const override { return description_; }
  void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) override;
  std::vector<std::string> notes() const override;

 private:
  struct Pass;  // over one layer
  std::shared_ptr<AttentionBatch::Shared> shared_;
  Description description_;
  std::vector<int> kept_;   // the real positions
  bool contiguous_ = true;  // kept_ has no gaps
  long mended_ = 0;         // invalid rows of heads replaced so far in this pass
};

}  // namespace headwater
