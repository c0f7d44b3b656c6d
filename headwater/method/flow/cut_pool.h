// Minimum cuts that were found for some sources of a sink, as bounds for the others.
//
// A cut between supplies and sink costs what it cuts of the supplies plus a part that does not
// depend on them, so for another source it is that part plus what it cuts of that one's row.
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

  /// The cut that `solver` has just found for `task`, whose value is `value`.
  void add(const kernel::FlowTask& task, const kernel::FlowSolver& solver, int32_t value);

  /// The least of all cuts for a source with these supplies, and `bound`.
  int64_t bound(const int32_t* supply, int64_t bound, int begin, int end);

 private:
  static constexpr size_t most = 12;
  struct Cut {
    int64_t below;
    kernel::IntArray sink_side;  // of level top - 1: all ones where it is, so that min() selects
  };
  int stride_;
  std::vector<Cut> cuts_;
  size_t used_ = 0;  // the first of them; the last is the most useful one
};

}  // namespace headwater
