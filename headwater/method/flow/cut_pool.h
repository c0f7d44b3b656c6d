// Minimum cuts found for some sources of a sink, reused as bounds for the others.
//
// The cost of a cut is the supplies it cuts plus a part that does not depend on the source. So for
// another source, the same cut costs that part plus what it cuts of that source's row.
#pragma once
#include <cstdint>
#include <vector>

#include "headwater/kernel/flow/flow.h"
#include "headwater/kernel/flow/memory.h"

namespace headwater {

class CutPool {
 public:
  explicit CutPool(int stride) : stride_(stride) {}
  void clear() { used_ = 0; }

  /// Adds the cut that `solver` has just found for `task`; it costs `value`.
  void add(const kernel::FlowTask& task, const kernel::FlowSolver& solver, int32_t value);

  /// The smaller of `bound` and the least cost of any cut for a source with these supplies.
  int64_t bound(const int32_t* supply, int64_t bound, int begin, int end);

 private:
  static constexpr size_t most = 12;
  struct Cut {
    int64_t below;
    kernel::IntArray sink_side;  // of level top - 1; all ones on the sink's side, for min()
  };
  int stride_;
  std::vector<Cut> cuts_;
  size_t used_ = 0;  // how many of cuts_ are in use; the last is the most useful
};

}  // namespace headwater
