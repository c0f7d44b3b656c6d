#include "headwater/layer/layers.h"

#include <fmt/format.h>

#include <cmath>

#include "headwater/core/stopwatch.h"
#include "headwater/kernel/maps.h"
#include "headwater/layer/resolve.h"
#include "headwater/layer/threshold.h"

namespace headwater {
namespace {

float discard_threshold(MatrixView map, double discard) {
  const double entries = static_cast<double>(map.rows()) * map.columns();
  return value_of_rank(map, static_cast<int64_t>(std::floor(entries * discard)));
}

kernel::RowStep mixing(const Options& options) {
  kernel::RowStep mix;
  mix.residual = options.residual;
  mix.divide = options.divide == Divide::always || options.residual > 0;
  mix.empty_keeps = options.empty == Empty::identity;
  return mix;
}

}  // namespace

int prepare_layer(MatrixSpan map, const Options& options) {
  kernel::RowStep mix = mixing(options);
  if (options.discard > 0 && options.order == Order::discard_first) {
    mix.threshold = discard_threshold(map, options.discard);
    mix.divide = true;
    return kernel::prepare(map, mix);
  }
  int empty = mix.divide ? kernel::prepare(map, mix) : 0;
  if (options.discard > 0) {
    kernel::RowStep drop;
    drop.threshold = discard_threshold(map, options.discard);
    drop.empty_keeps = mix.empty_keeps;
    // With Empty::zero, a row that the first pass left at zero is counted again by the second.
    const int emptied = kernel::prepare(map, drop);
    empty = mix.empty_keeps ? empty + emptied : emptied;
  }
  return empty;
}

int prepare_rows(MatrixSpan rows, int first, const Options& options) {
  const kernel::RowStep mix = mixing(options);
  return mix.divide ? kernel::prepare_rows(rows, first, mix) : 0;
}

std::string empty_rows_note(long count, Empty empty) {
  return fmt::format("{} row(s) had nothing to divide by and {}", count,
                     empty == Empty::identity ? "became identity rows (empty identity)"
                                              : "stayed zero (empty zero)");
}

Layers::Layers(Source& source, const Options& options)
    : source_(source),
      options_(options),
      range_(resolve(options.layers, source.description().layers, source.description().name)) {
  check(options);
}

bool Layers::as_it_is(int layer) const {
  return options_.preset == Preset::metrics && layer == range_.begin;
}

void Layers::each(Direction direction, const Visit& visit) {
  const Stopwatch whole;
  double preparing = 0, visiting = 0;
  empty_rows_ = 0;
  source_.layers(options_.fuse, range_, direction, [&](int layer, MatrixSpan map) {
    const Stopwatch prepare;
    if (!as_it_is(layer)) empty_rows_ += prepare_layer(map, options_);
    preparing += prepare.seconds();
    const Stopwatch visited;
    visit(layer, map);
    visiting += visited.seconds();
  });
  preparing_ += preparing;
  reading_ += whole.seconds() - preparing - visiting;
}

class Layers::PreparingVisitor : public RowVisitor {
 public:
  PreparingVisitor(Layers& layers, RowVisitor& visitor) : layers_(layers), visitor_(visitor) {}
  bool wants(int layer, int first, int count) override {
    return visitor_.wants(layer, first, count);
  }
  void take(int layer, int first, MatrixSpan rows) override {
    const Stopwatch prepare;
    if (!layers_.as_it_is(layer))
      layers_.empty_rows_ += prepare_rows(rows, first, layers_.options_);
    preparing += prepare.seconds();
    const Stopwatch visited;
    visitor_.take(layer, first, rows);
    visiting += visited.seconds();
  }

  double preparing = 0, visiting = 0;

 private:
  Layers& layers_;
  RowVisitor& visitor_;
};

void Layers::each_rows(Direction direction, RowVisitor& visitor) {
  if (options_.discard > 0) {
    each(direction, [&](int layer, MatrixSpan map) {
      if (visitor.wants(layer, 0, map.rows())) visitor.take(layer, 0, map);
    });
    return;
  }
  const Stopwatch whole;
  empty_rows_ = 0;
  PreparingVisitor preparing(*this, visitor);
  source_.rows(options_.fuse, range_, direction, preparing);
  preparing_ += preparing.preparing;
  reading_ += whole.seconds() - preparing.preparing - preparing.visiting;
}

std::vector<std::string> Layers::notes() const {
  std::vector<std::string> notes = source_.notes();
  if (empty_rows_ > 0) notes.push_back(empty_rows_note(empty_rows_, options_.empty));
  return notes;
}

}  // namespace headwater
