#include "headwater/core/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
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
        if (!failed.exchange(true)) error = std::current_exception();
        next.store(count);
      }
    }
  }

  const int count;
  const std::function<void(int)>& task;
  std::atomic<int> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
};

class Pool {
 public:
  explicit Pool(int helpers) {
    for (int i = 0; i < helpers; ++i)
      threads_.emplace_back([this](std::stop_token stop) { serve(stop); });
  }
  ~Pool() {
    for (auto& thread : threads_) thread.request_stop();
    wake_.notify_all();
  }
  int helpers() const { return static_cast<int>(threads_.size()); }

  void run(Loop& loop) {
    {
      std::lock_guard lock(mutex_);
      loop_ = &loop;
      ++round_;
      busy_ = helpers();
    }
    wake_.notify_all();
    loop.work();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    loop_ = nullptr;
  }

 private:
  void serve(std::stop_token stop) {
    long seen = 0;
    while (true) {
      Loop* loop = nullptr;
      {
        std::unique_lock lock(mutex_);
        if (!wake_.wait(lock, stop, [&] { return round_ != seen; })) return;
        seen = round_;
        loop = loop_;
      }
      loop->work();
      {
        std::lock_guard lock(mutex_);
        if (--busy_ == 0) done_.notify_one();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable done_;
  Loop* loop_ = nullptr;
  long round_ = 0;
  int busy_ = 0;
  std::vector<std::jthread> threads_;
};

std::mutex pool_in_use;
thread_local bool inside_a_task = false;

}  // namespace

int threads() { return wanted().load(); }

void set_threads(int count) { wanted().store(std::max(1, count)); }

void parallel_for(int count, const std::function<void(int)>& task) {
  static std::unique_ptr<Pool> pool;
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
