// One level of the network that the flow solver works on: the arcs out of its nodes, what is left
// of them, and what is known of the nodes.
//
// A node's arcs are contiguous in its row. Three kinds have vectors of their own, because the
// solver works on them as a whole: the tokens' own chains (the diagonal), the task's column, and
// all arcs into a collector, a node of the level below that takes a little from every node of this
// one. Their entries in the rows are not used.
#if defined(HEADWATER_KERNEL_CPU_FLOW_LEVEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_LEVEL_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_LEVEL_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_LEVEL_INL_H
#endif

#include <algorithm>
#include <vector>

#include "headwater/kernel/cpu/flow/bits-inl.h"
#include "headwater/kernel/cpu/flow/blocks-inl.h"
#include "headwater/kernel/flow/columns.h"
#include "headwater/kernel/flow/memory.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// The collectors of all levels.
struct Collectors {
  std::vector<int> node;        // [place]
  IntArray left;                // [place][u], residual capacities of the arcs (k, u) -> collector
  std::vector<uint8_t> filled;  // [place][block of u]
  std::vector<uint64_t> open, used;  // [place], one bit an arc; the search's alone
};

struct Level {
  IntArray arcs;      // residual capacities, without the diagonal and the column
  IntArray diagonal;  // (k, u) -> (k-1, u)
  IntArray column;    // (k, u) -> (k-1, t), zero for u = t
  IntArray column_full;
  // One bit for each arc, a row of words for each node; without the diagonal and the column.
  std::vector<uint64_t> whole;  // u's arcs that have a capacity at all
  std::vector<uint64_t> open;   // ... that have some left
  std::vector<uint64_t> used;   // ... that carry flow
  // Only if rows are long: which arcs into v carry flow from u, for those words of v and u that are
  // known.
  std::vector<uint64_t> used_in;
  std::vector<uint8_t> used_in_known;
  // One bit for each node.
  std::vector<uint64_t> live;  // may still pass something down in the greedy flow
  std::vector<uint64_t> column_live;
  std::vector<uint64_t> diagonal_open, diagonal_used, column_used;
  std::vector<uint64_t> unseen;
  int32_t surplus = 0;       // flow out of the source's node here that nothing feeds
  std::vector<int> changed;  // nodes whose row of arcs has changed
  std::vector<uint8_t> is_changed;
  // The collectors in the level below.
  std::vector<size_t> collectors;      // places
  std::vector<uint64_t> is_collector;  // one bit a node
  std::vector<size_t> place;           // [node]
};

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_LEVEL_INL_H
