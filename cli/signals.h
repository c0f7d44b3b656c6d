// What the command does when the system interrupts it.
#pragma once
#include <string>

namespace headwater::cli {

/// From now on an interrupt removes unfinished files, a file that grows past the limit is an error
/// of writing, and an input that is shortened while it is read ends the command with a sentence.
/// Signals that the caller ignores stay ignored.
void handle_signals();

/// While it lives, a crash inside the libraries that draw ends the command with a sentence about
/// `path`, and what they print is dropped: GLib and fontconfig abort where memory or a thread is
/// missing.
class DrawingGuard {
 public:
  explicit DrawingGuard(const std::string& path);
  ~DrawingGuard();
  DrawingGuard(const DrawingGuard&) = delete;
  DrawingGuard& operator=(const DrawingGuard&) = delete;

 private:
  int standard_error_;
};

}  // namespace headwater::cli
