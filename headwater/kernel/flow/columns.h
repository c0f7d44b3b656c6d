// The columns of a flow network: its levels, each transposed when it is first needed.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "headwater/kernel/flow/flow.h"
#include "headwater/kernel/flow/memory.h"

namespace headwater::kernel {

class FlowColumns {
 public:
  /// Borrows the network. Transposes at most `most` levels.
  FlowColumns(const FlowNetwork& network, int most);

  /// Transposes level k, unless that is done already or `most` levels are: n^2 steps, and as much
  /// memory. Any thread may call it.
  void transpose(int k) const;

  /// Column v of level k, with the network's stride: [u] is the arc (k, u) -> (k-1, v), and zero
  /// for u = v. Null unless the level is transposed. Any thread may call it.
  const int32_t* column(int k, int v) const {
    const int32_t* level = transposed_[static_cast<size_t>(k)].load(std::memory_order_acquire);
    return level ? level + static_cast<size_t>(v) * static_cast<size_t>(network_.stride) : nullptr;
  }

 private:
  const FlowNetwork& network_;
  mutable int left_;
  mutable std::mutex mutex_;
  mutable std::vector<IntArray> levels_;
  std::unique_ptr<std::atomic<const int32_t*>[]> transposed_;
};

}  // namespace headwater::kernel
