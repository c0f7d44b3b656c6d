#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "headwater/core/stopwatch.h"

namespace headwater::cli {
namespace {

class Bar {
 public:
  explicit Bar(int total) : total_(total), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Bar() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void show(int done) {
    if (!terminal_ || watch_.seconds() < 1) return;
    shown_ = true;
    constexpr int width = 30;
    const int filled = width * done / total_;
    const double left = watch_.seconds() / done * (total_ - done);
    const std::string line =
        fmt::format("\r[{}{}] layer {} of {}, {:.0f} s left\033[K",
                    std::string(static_cast<size_t>(filled), '='),
                    std::string(static_cast<size_t>(width - filled), ' '), done, total_, left);
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
  }

 private:
  int total_;
  bool terminal_;
  bool shown_ = false;
  Stopwatch watch_;
};

}  // namespace

ProgressSource::ProgressSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}

void ProgressSource::layers(Fuse fuse, Range range, Direction direction, const Visit& visit) {
  Bar bar(range.size());
  int done = 0;
  source_->layers(fuse, range, direction, [&](int layer, MatrixSpan map) {
    visit(layer, map);
    bar.show(++done);
  });
}

}  // namespace headwater::cli
