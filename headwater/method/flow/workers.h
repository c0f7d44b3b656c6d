// The solvers of a flow computation: one a thread, as many as memory allows.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "headwater/kernel/flow/columns.h"
#include "headwater/kernel/flow/flow.h"
#include "headwater/method/flow/capacities.h"

namespace headwater {

class Workers {
 public:
  /// Borrows the capacities.
  explicit Workers(const Capacities& capacities);

  int count() const { return static_cast<int>(solvers_.size()); }

  /// How many n x n matrices of int32 the rest of the work may use. A flow takes at most (2 L + 8)
  /// n^2 x 4 bytes and 64 MB in all.
  int matrices_left() const { return matrices_left_; }

  /// Called before each task, by any thread; what it throws ends the work.
  void before_each(std::function<void()> call) { before_ = std::move(call); }

  /// Calls task(solver, worker, k) once for each k = 0 ... tasks - 1, in any order. If a task
  /// throws, the others stop and run() rethrows.
  void run(int tasks, const std::function<void(kernel::FlowSolver&, int worker, int k)>& task);

 private:
  kernel::FlowNetwork network_;
  std::unique_ptr<kernel::FlowColumns> columns_;
  std::vector<std::unique_ptr<kernel::FlowSolver>> solvers_;
  int matrices_left_ = 0;
  std::function<void()> before_;
};

}  // namespace headwater
