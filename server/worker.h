// One computation at a time.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace headwater::server {

/// Runs jobs one after the other, in the order in which they came, on a thread of its own.
class Worker {
 public:
  Worker();
  /// Waits for the running job and drops the waiting ones.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// False if too many are waiting. A job must not throw.
  bool add(std::function<void()> job);

  static constexpr size_t most = 32;  // jobs that wait

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace headwater::server
