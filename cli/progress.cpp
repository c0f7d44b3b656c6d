#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

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

ProgressSource::ProgressSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}

void ProgressSource::layers(Fuse fuse, Range range, Direction direction, const Visit& visit) {
  ProgressBar bar("layer");
  int done = 0;
  source_->layers(fuse, range, direction, [&](int layer, MatrixSpan map) {
    visit(layer, map);
    bar.show(++done, range.size());
  });
}

GradientAnswer ProgressSource::gradients(const GradientRequest& request, const Visit& visit) {
  ProgressBar bar("layer");
  int done = 0;
  return source_->differentiable()->gradients(request, [&](int layer, MatrixSpan map) {
    visit(layer, map);
    bar.show(++done, request.range.size());
  });
}

namespace {

// Counts rows as they are taken or skipped.
class CountingVisitor : public RowVisitor {
 public:
  CountingVisitor(RowVisitor& visitor, int64_t total) : visitor_(visitor), total_(total) {}
  bool wants(int layer, int first, int count) override {
    const bool wanted = visitor_.wants(layer, first, count);
    if (!wanted) advance(count);
    return wanted;
  }
  void take(int layer, int first, MatrixSpan rows) override {
    visitor_.take(layer, first, rows);
    advance(rows.rows());
  }

 private:
  void advance(int rows) { bar_.show(done_ += rows, total_); }

  RowVisitor& visitor_;
  ProgressBar bar_{"row"};
  int64_t done_ = 0, total_;
};

}  // namespace

void ProgressSource::rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) {
  const int64_t n = static_cast<int64_t>(description().tokens.size());
  CountingVisitor counting(visitor, n * range.size());
  source_->rows(fuse, range, direction, counting);
}

}  // namespace headwater::cli
