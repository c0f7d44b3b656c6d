// A bar on the terminal when work takes more than a second.
#pragma once
#include <cstdint>
#include <string>

#include "headwater/core/stopwatch.h"
#include "headwater/source/watched_source.h"

namespace headwater::cli {

/// `done` of `total`, in units of `what`. Shows nothing if standard error is not a terminal, and
/// clears its line at the end.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(int64_t done, int64_t total);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  Stopwatch watch_;
  double last_ = 0;
};

/// A bar for each pass over a source.
Watch progress_bars();

}  // namespace headwater::cli
