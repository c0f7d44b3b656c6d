#include "headwater/core/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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

// One loop over task numbers that several threads share.
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

  const int count;
  const std::function<void(int)>& task;
  std::atomic<int> next{0};
  // Tasks are handed out in order, so when one fails all before it have begun and will end: the
  // lowest that fails is the same for any number of threads.
  std::mutex mutex;
  int failed = count;
  std::exception_ptr error;
};

// Helpers look for the next loop for about as long as a wake-up by the system takes, then sleep.
// Loops follow each other closely within a layer, and each would otherwise wait for that wake-up.
// Between looks others may run: on a busy machine the thread that one waits for may need this very
// core.
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
    } catch (const std::system_error&) {
      // The system gives no more threads. Those that are there do the work.
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
  /// As many as were asked for.
  int helpers() const { return helpers_; }

  // Waits for the helpers that joined in, not for those that the system did not wake in time: on a
  // machine with other work a small loop must not wait for a thread that has nothing to do.
  void run(Loop& loop) {
    {
      std::lock_guard lock(mutex_);
      loop_ = &loop;
      ++round_;
    }
    const int needed = std::min(helpers(), loop.count - 1);
    for (int i = 0; i < needed; ++i) wake_.notify_one();
    loop.work();
    {
      std::lock_guard lock(mutex_);
      loop_ = nullptr;
    }
    look_for([this] { return busy_ == 0; });
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void serve() {
    long seen = 0;
    while (true) {
      look_for([&] { return round_ != seen; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return round_ != seen; });
      if (stopping_) return;
      seen = round_;
      if (loop_ == nullptr) continue;
      Loop* loop = loop_;
      ++busy_;
      lock.unlock();
      loop->work();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  const int helpers_;
  // All changed under the mutex; atomic because they are also looked at without it.
  std::atomic<long> round_{0};
  std::atomic<int> busy_{0};
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Loop* loop_ = nullptr;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

std::mutex pool_in_use;
std::unique_ptr<Pool> pool;
thread_local bool inside_a_task = false;

// A child of fork() has the pool's memory but none of its threads: it leaves that pool behind,
// since it can join nothing, and makes its own when it needs one.
void leave_pool_to_parent() { static_cast<void>(pool.release()); }

}  // namespace

int threads() { return wanted().load(); }

void set_threads(int count) { wanted().store(std::max(1, count)); }

void parallel_for(int count, const std::function<void(int)>& task) {
  static const int registered = pthread_atfork(nullptr, nullptr, leave_pool_to_parent);
  static_cast<void>(registered);
  const int helpers = std::min(threads(), count) - 1;
  std::unique_lock lock(pool_in_use, std::defer_lock);
  if (helpers < 1 || inside_a_task || !lock.try_lock()) {
    for (int i = 0; i < count; ++i) task(i);
    return;
  }
  if (!pool || pool->helpers() != threads() - 1) {
    pool.reset();
    pool = std::make_unique<Pool>(threads() - 1);
  }
  inside_a_task = true;
  Loop loop(count, task);
  pool->run(loop);
  inside_a_task = false;
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace headwater
