#include "headwater/source/watched_source.h"

namespace headwater {
namespace {

// Counts rows as they are taken or skipped.
class CountingVisitor : public RowVisitor {
 public:
  CountingVisitor(RowVisitor& visitor, Count count, int64_t total)
      : visitor_(visitor), count_(std::move(count)), total_(total) {}
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
  void advance(int rows) { count_(done_ += rows, total_); }

  RowVisitor& visitor_;
  Count count_;
  int64_t done_ = 0, total_;
};

}  // namespace

WatchedSource::WatchedSource(std::unique_ptr<Source> source, Watch watch)
    : source_(std::move(source)), watch_(std::move(watch)) {}

void WatchedSource::layers(Fuse fuse, Range range, Direction direction, const Visit& visit) {
  const Count count = watch_("layer");
  int done = 0;
  source_->layers(fuse, range, direction, [&](int layer, MatrixSpan map) {
    visit(layer, map);
    count(++done, range.size());
  });
}

GradientAnswer WatchedSource::gradients(const GradientRequest& request, const Visit& visit) {
  const Count count = watch_("layer");
  int done = 0;
  return source_->differentiable()->gradients(request, [&](int layer, MatrixSpan map) {
    visit(layer, map);
    count(++done, request.range.size());
  });
}

void WatchedSource::rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) {
  const int64_t n = static_cast<int64_t>(description().tokens.size());
  CountingVisitor counting(visitor, watch_("row"), n * range.size());
  source_->rows(fuse, range, direction, counting);
}

}  // namespace headwater
