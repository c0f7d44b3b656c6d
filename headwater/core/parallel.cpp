#include "headwater/core/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "headwater/core/threads.h"

namespace headwater {
namespace {

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::atomic<int>& wanted() {
  static std::atomic<int> count = usable_cores();
  return count;
}

thread_local bool inside_a_task = false;
thread_local Team team_here = nullptr;
thread_local int count_here = 0;

// One loop over task numbers, shared by several threads.
struct Loop {
  Loop(int count, const std::function<void(int)>& task) : count(count), task(task) {}

  void work() {
    for (int i; (i = next.fetch_add(1)) < count;) {
      try {
        task(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          error = std::current_exception();
        }
        next.store(count);
      }
    }
  }

  bool open() const { return next.load() < count; }

  const int count;
  const std::function<void(int)>& task;
  std::atomic<int> next{0};
  // Helpers working on this loop. Changed under the pool's mutex, read without it.
  std::atomic<int> helpers{0};
  // Tasks are handed out in order. So when one fails, all before it have started and will finish:
  // the lowest failure is the same for any number of threads.
  std::mutex mutex;
  int failed = count;
  std::exception_ptr error;
};

// Helpers spin for about as long as a wake-up by the system takes, then sleep. Loops within a layer
// follow each other closely, and each would otherwise wait for that wake-up. They yield between
// looks: on a busy machine, the thread they wait for may need this very core.
template <class Condition>
void look_for(const Condition& condition) {
  constexpr int looks = 128, pauses = 32;
  for (int look = 0; look < looks; ++look) {
    for (int i = 0; i < pauses; ++i) {
      if (condition()) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    std::this_thread::yield();
  }
}

class Pool {
 public:
  explicit Pool(int helpers) : helpers_(helpers) {
    try {
      for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {
      // The system has no more threads, or no memory for them. Those that exist do the work.
      // Nothing may escape this constructor: the destructor, which ends the threads, would not run.
    }
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      ++round_;
    }
    wake_.notify_all();
  }
  /// The number requested, which may be more than were started.
  int helpers() const { return helpers_; }

  void run(Loop& loop) {
    offer(loop_, loop, std::min(helpers(), loop.count - 1));
    loop.work();
    withdraw(loop_, loop);
  }

  /// Returns false if there is one already.
  bool start_background(Loop& loop) {
    {
      std::lock_guard lock(mutex_);
      if (background_ != nullptr) return false;
    }
    offer(background_, loop, std::min(helpers(), loop.count));
    return true;
  }
  void end_background(Loop& loop) { withdraw(background_, loop); }
  bool has_background() {
    std::lock_guard lock(mutex_);
    return background_ != nullptr;
  }

 private:
  void offer(Loop*& place, Loop& loop, int needed) {
    {
      std::lock_guard lock(mutex_);
      place = &loop;
      ++round_;
    }
    for (int i = 0; i < needed; ++i) wake_.notify_one();
  }

  // Waits only for helpers that joined, not for those the system has yet to wake: on a busy machine
  // a small loop must not wait for an idle thread.
  void withdraw(Loop*& place, Loop& loop) {
    {
      std::lock_guard lock(mutex_);
      place = nullptr;
    }
    look_for([&] { return loop.helpers == 0; });
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return loop.helpers == 0; });
  }

  Loop* open_loop() const {
    for (Loop* loop : {background_, loop_})
      if (loop != nullptr && loop->open()) return loop;
    return nullptr;
  }

  void serve() {
    inside_a_task = true;
    long seen = 0;
    while (true) {
      look_for([&] { return round_ != seen; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return round_ != seen; });
      if (stopping_) return;
      seen = round_;
      while (Loop* loop = open_loop()) {
        ++loop->helpers;
        lock.unlock();
        loop->work();
        lock.lock();
        if (--loop->helpers == 0) done_.notify_all();
      }
    }
  }

  const int helpers_;
  // Changed under the mutex; atomic because it is also read without it.
  std::atomic<long> round_{0};
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Loop* loop_ = nullptr;
  Loop* background_ = nullptr;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

std::mutex pool_in_use;
std::unique_ptr<Pool> pool;

// A child of fork() has the pool's memory but none of its threads. It abandons that pool, because
// it cannot join them, and makes its own when needed.
void leave_pool_to_parent() { static_cast<void>(pool.release()); }

}  // namespace

int threads() { return wanted().load(); }

void set_threads(int count) { wanted().store(std::max(1, count)); }

namespace {

void on_team(int count, const std::function<void(int)>& task) {
  Loop loop(count, task);
  const auto work = [](void* data) {
    const bool nested = std::exchange(inside_a_task, true);
    static_cast<Loop*>(data)->work();
    inside_a_task = nested;
  };
  // Uses the whole team, even if some threads find nothing to do: libraries end the threads that a
  // smaller team leaves out, and start them again for the next.
  if (count_here > 1 && count > 1)
    team_here(work, &loop, count_here);
  else
    work(&loop);
  if (loop.error) std::rethrow_exception(loop.error);
}

// The pool with the requested number of threads, rebuilt if that number changed. Null while another
// thread's background work depends on the old one. The caller holds pool_in_use.
Pool* wanted_pool() {
  static const int registered = pthread_atfork(nullptr, nullptr, leave_pool_to_parent);
  static_cast<void>(registered);
  if (pool && pool->helpers() == threads() - 1) return pool.get();
  if (pool && pool->has_background()) return nullptr;
  pool.reset();
  pool = std::make_unique<Pool>(threads() - 1);
  return pool.get();
}

}  // namespace

OnTeam::OnTeam(Team team, int count) : team_before_(team_here), count_before_(count_here) {
  if (team == nullptr) return;
  team_here = team;
  count_here = std::max(1, count);
}

OnTeam::~OnTeam() {
  team_here = team_before_;
  count_here = count_before_;
}

void parallel_for(int count, const std::function<void(int)>& task) {
  if (team_here != nullptr && !inside_a_task) return on_team(count, task);
  const int helpers = std::min(threads(), count) - 1;
  std::unique_lock lock(pool_in_use, std::defer_lock);
  Pool* with = nullptr;
  if (helpers >= 1 && !inside_a_task && lock.try_lock()) with = wanted_pool();
  if (with == nullptr) {
    for (int i = 0; i < count; ++i) task(i);
    return;
  }
  inside_a_task = true;
  Loop loop(count, task);
  with->run(loop);
  inside_a_task = false;
  if (loop.error) std::rethrow_exception(loop.error);
}

void parallel_if_many(int count, const std::function<void(int)>& task) {
  if (count >= 4 * threads()) return parallel_for(count, task);
  for (int i = 0; i < count; ++i) task(i);
}

struct Background::State {
  State(int count, std::function<void(int)> given) : task(std::move(given)), loop(count, task) {
    std::unique_lock lock(pool_in_use, std::defer_lock);
    if (threads() < 2 || inside_a_task || !lock.try_lock()) return;
    with = wanted_pool();
    if (with != nullptr && !with->start_background(loop)) with = nullptr;
  }

  std::function<void(int)> task;
  Loop loop;
  Pool* with = nullptr;  // the pool that has the tasks, if any
};

Background::Background(int count, std::function<void(int)> task)
    : state_(std::make_unique<State>(count, std::move(task))) {}

Background::~Background() {
  if (state_->with == nullptr) return;
  state_->loop.next.store(state_->loop.count);
  state_->with->end_background(state_->loop);
}

void Background::finish() {
  const bool nested = std::exchange(inside_a_task, true);
  state_->loop.work();
  inside_a_task = nested;
  if (Pool* with = std::exchange(state_->with, nullptr)) with->end_background(state_->loop);
  if (state_->loop.error) std::rethrow_exception(state_->loop.error);
}

}  // namespace headwater
