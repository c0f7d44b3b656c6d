// Work on several threads: one pool a process, started on first use.
#pragma once
#include <functional>
#include <memory>

namespace headwater {

/// Calls task(0) ... task(count - 1) once each, in any order, on several threads, and returns when
/// all are done. If tasks throw, no new ones start, and the exception of the lowest such task is
/// rethrown: the same one for any number of threads. A call from inside a task, or from another
/// thread while the pool is busy, runs on the calling thread alone.
void parallel_for(int count, const std::function<void(int)>& task);

/// The same for tasks that are parallel themselves: a thread for each costs less than all threads
/// for each, unless some would be idle. So if there are few tasks, they run one after the other.
void parallel_if_many(int count, const std::function<void(int)>& task);

/// Threads of another library. Calls work(data) on at most `count` of them, including the caller's
/// own thread, and returns when all calls have.
using Team = void (*)(void (*work)(void* data), void* data, int count);

/// While this object exists, parallel_for on this thread uses `count` threads of that team instead
/// of the engine's. This is for calls between the loops of a library whose threads spin while they
/// wait: extra threads would get half of each core. A null team changes nothing.
class OnTeam {
 public:
  OnTeam(Team team, int count);
  ~OnTeam();
  OnTeam(const OnTeam&) = delete;
  OnTeam& operator=(const OnTeam&) = delete;

 private:
  Team team_before_;
  int count_before_;
};

/// Runs task(0) ... task(count - 1) while the caller does other work. The other threads take these
/// tasks first and then join the caller's loops, so memory-bound and compute-bound work overlap.
/// Only one runs at a time in a process: the tasks of a second wait for its finish().
class Background {
 public:
  Background(int count, std::function<void(int)> task);
  /// Without finish(), tasks that have not started never do; waits for the others.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Helps until all tasks are done. Throws as parallel_for does.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headwater
