// Maximum flow through a dense layered network, the operation in which method/flow spends its time.
//
// Nodes (k, u) for levels k = 0 ... L and 0 <= u < n; an arc (k, u) -> (k-1, v) of capacity
// arcs[k][u][v]. A task asks for a maximum flow from supplies at level top-1 to demands at level
// bottom, so it uses the arcs of levels bottom+1 ... top-1. The flow out of token i at level L into
// token t at level 0 is the task with supply = row i of arcs[L], demand = column t of arcs[1],
// top = L, bottom = 1.
//
// Capacities are at most 2^30, and so is the total supply of a task: sums of the capacities of a
// row fit int32. All answers are exact integers and the same for every instruction set.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace headwater::kernel {

/// Rows are processed in blocks of this many numbers; a row's stride is a multiple of it.
constexpr int flow_block = 16;

/// Capacities are in units of 2^-30, so this is 1.
constexpr int32_t flow_unit = 1 << 30;

class FlowColumns;

/// Borrowed capacities. Entries from column n to the stride are zero. Rows are 64-byte aligned.
struct FlowNetwork {
  int n = 0;
  int stride = 0;
  bool causal = false;                    // no arc leads to a later token
  std::vector<const int32_t*> arcs;       // [k], k = 1 ... L; [0] is not used
  std::vector<const int32_t*> diagonals;  // [k][u] = arcs[k][u][u]
  const FlowColumns* columns = nullptr;   // solvers are faster with it (columns.h)
  int levels() const { return static_cast<int>(arcs.size()) - 1; }
  const int32_t* row(int k, int u) const {
    return arcs[static_cast<size_t>(k)] + static_cast<size_t>(u) * static_cast<size_t>(stride);
  }
};

/// Supplies and demands have the network's stride and alignment, and zeros from n on.
struct FlowTask {
  const int32_t* supply = nullptr;
  const int32_t* demand = nullptr;
  int top = 0;        // supplies are at level top - 1
  int bottom = 1;     // demands are at this level; bottom + 1 <= top
  int column = 0;     // a hint: the token where most of the flow ends
  int source = 0;     // a hint: the token where most of it starts
  int32_t limit = 0;  // an upper bound of the value: the solver stops there
  int begin = 0;      // only the tokens begin ... end - 1 carry flow
  int end = 0;
  bool shown = false;  // visit_flow() will be called; after raise() also demanded()
};

/// One arc's share of a flow: amount units from (level, from) to (level - 1, to).
using FlowVisit = std::function<void(int level, int from, int to, int32_t amount)>;

/// Borrows the network. Each thread needs its own.
class FlowSolver {
 public:
  virtual ~FlowSolver() = default;

  /// The value of a maximum flow, or task.limit if that is reached.
  virtual int32_t solve(const FlowTask& task) = 0;

  /// The same for the last task extended by one level: its supplies were row task.source of the
  /// level that is added; the demands, begin and end are the same. In a causal network it starts
  /// from the last flow, which must be a maximum one; in others it starts anew.
  virtual int32_t raise(const FlowTask& task) = 0;

  // The rest is about the last task.

  /// Whether a cut proves the value. Otherwise the flow reached the limit.
  virtual bool has_cut() const = 0;
  /// Whether node (k, u), bottom <= k < top, is on the cut's sink side.
  virtual bool sink_side(int k, int u) const = 0;
  /// How much of supply u and of demand v the flow uses.
  virtual int32_t supplied(int u) const = 0;
  virtual int32_t demanded(int v) const = 0;
  /// The flow itself, if the task was `shown`.
  virtual void visit_flow(const FlowVisit& visit) const = 0;
};

/// What the flow method calls, as part of Kernels (kernel.h). begin and end are multiples of
/// flow_block, rows are 64-byte aligned, numbers are from 0 to 2^30.
struct FlowKernels {
  std::unique_ptr<FlowSolver> (*solver)(const FlowNetwork& network);
  /// The sum over j of min(a[j], b[j]), j = begin ... end - 1.
  int64_t (*sum_of_minima)(const int32_t* a, const int32_t* b, int begin, int end);
  /// sums[j] = min(2^30, sums[j] + min(value, row[j])).
  void (*add_minima)(int32_t value, const int32_t* row, int32_t* sums, int begin, int end);
};

}  // namespace headwater::kernel
