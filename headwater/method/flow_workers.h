// The solvers of a flow computation, one a thread, as many as memory allows.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "headwater/kernel/flow.h"
#include "headwater/method/flow_capacities.h"

namespace headwater {

class Workers {
 public:
  /// Borrows the capacities.
  explicit Workers(const Capacities& capacities);

  int count() const { return static_cast<int>(solvers_.size()); }

  /// Calls task(solver, worker, k) for k = 0 ... tasks - 1, each once, in any order. What one
  /// throws is thrown again here, after the others have stopped.
  void run(int tasks, const std::function<void(kernel::FlowSolver&, int worker, int k)>& task);

 private:
  kernel::FlowNetwork network_;
  std::vector<std::unique_ptr<kernel::FlowSolver>> solvers_;
};

/// How many more n x n matrices of int32 fit the memory that a flow over these layers may take,
/// (2 L + 8) n^2 x 4 bytes and 64 MB, beside the capacities, `solvers` solvers and the result.
int matrices_left(const Capacities& capacities, int solvers);

}  // namespace headwater
