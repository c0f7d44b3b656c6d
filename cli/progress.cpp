#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

namespace headwater::cli {
namespace {

constexpr double quiet = 1;      // seconds before a bar is worth showing
constexpr double between = 0.1;  // seconds between two updates

}  // namespace

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(int64_t done, int64_t total) {
  const double now = watch_.seconds();
  if (!terminal_ || now < quiet || done <= 0 || (now - last_ < between && done < total)) return;
  shown_ = true;
  last_ = now;
  constexpr int64_t width = 30;
  const int64_t filled = width * done / total;
  const double left = now / static_cast<double>(done) * static_cast<double>(total - done);
  const std::string line = fmt::format(
      "\r[{}{}] {} {} of {}, {:.0f} s left\033[K", std::string(static_cast<size_t>(filled), '='),
      std::string(static_cast<size_t>(width - filled), ' '), what_, done, total, left);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

Watch progress_bars() {
  return [](const char* what) -> Count {
    return [bar = std::make_shared<ProgressBar>(what)](int64_t done, int64_t total) {
      bar->show(done, total);
    };
  };
}

}  // namespace headwater::cli
