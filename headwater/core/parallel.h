// Work on several threads: one pool for the process, made when it is first needed.
#pragma once
#include <functional>
#include <memory>

namespace headwater {

/// Calls task(0) ... task(count - 1), each once, in any order, on several threads, and returns when
/// all are done. When a task throws, no more begin, and the exception of the lowest that threw is
/// thrown again here: the same one for any number of threads. A call from inside a task, or from a
/// second thread while the pool is busy, runs on its own thread.
void parallel_for(int count, const std::function<void(int)>& task);

/// Threads of another library: calls work(data) on each of `count` of them, or fewer, the caller's
/// own among them, and returns when all calls have.
using Team = void (*)(void (*work)(void* data), void* data, int count);

/// While it lives, the loops of this thread run on `count` threads of that team, not on the
/// engine's own. For calls between the loops of a library whose threads keep their cores busy while
/// they wait for the next one: threads beside them would get half of each core. Without a team
/// nothing changes.
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

/// task(0) ... task(count - 1) beside what the caller does meanwhile. The other threads take these
/// first and then join the caller's loops, so that work which waits for memory and work which
/// computes run side by side. One at a time in a process: the tasks of a second wait for finish().
class Background {
 public:
  Background(int count, std::function<void(int)> task);
  /// Without finish(): tasks that have not begun never do; waits for the others.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Works along until all tasks are done. Throws as parallel_for does.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headwater
