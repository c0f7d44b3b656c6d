// What the command does when the system interrupts it.
#pragma once
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace headwater::cli {

/// From now on an interrupt removes unfinished files, a file that grows past the limit is an error
/// of writing, and an input that is shortened while it is read ends the command with a sentence.
/// Signals that the caller ignores stay ignored.
/// Running out of memory where no exception can be caught also ends it with a sentence.
void handle_signals();

/// Writes that sentence without allocating.
void explain_lack_of_memory() noexcept;

/// While it lives, a crash inside the libraries that draw ends the command with a sentence about
/// `path`, and what they print is dropped: GLib and fontconfig abort when they cannot get memory or
/// a thread, and fontconfig retries forever.
class DrawingGuard {
 public:
  explicit DrawingGuard(const std::string& path);
  ~DrawingGuard();
  DrawingGuard(const DrawingGuard&) = delete;
  DrawingGuard& operator=(const DrawingGuard&) = delete;

 private:
  void watch_memory();

  std::FILE* standard_error_;
  std::FILE* nowhere_ = nullptr;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool drawing_ = true;
  std::thread watch_;
};

}  // namespace headwater::cli
