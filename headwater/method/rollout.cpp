#include "headwater/method/rollout.h"

#include <algorithm>
#include <numeric>

#include "headwater/core/stopwatch.h"
#include "headwater/kernel/kernel.h"
#include "headwater/method/begin.h"

namespace headwater {
namespace {

bool wanted(const std::vector<int>& tops, int layer) {
  return std::ranges::binary_search(tops, layer);
}

// All rows: R folded from below with two matrices beside the layer's own.
void fold_all(Layers& layers, const std::vector<int>& tops, Attribution& result) {
  const bool reversed = result.options.preset == Preset::metrics;
  const int n = layers.n();
  Matrix rolled(n, n), next(n, n);
  layers.each(Direction::up, [&](int layer, MatrixSpan a) {
    if (layer == layers.range().begin) {
      std::copy_n(a.data(), rolled.size(), rolled.data());
    } else {
      if (reversed)
        kernel::multiply(rolled, a, next);
      else
        kernel::multiply(a, rolled, next);
      std::swap(rolled, next);
    }
    if (!wanted(tops, layer)) return;
    const bool last = layer == layers.range().end - 1;
    result.values.push_back(last ? std::move(rolled) : rolled.copy());
  });
}

// The rows asked for of the identity: e_i for each, or the mean of all.
void start_rows(MatrixSpan rows, const Attribution& result) {
  for (int r = 0; r < rows.rows(); ++r) {
    std::ranges::fill(rows.row(r), result.mean_row ? 1 / static_cast<float>(rows.columns()) : 0.0f);
    if (!result.mean_row) rows(r, result.rows[static_cast<size_t>(r)]) = 1;
  }
}

void multiply_rows(MatrixView rows, MatrixView a, MatrixSpan out) {
  if (rows.rows() == 1)
    kernel::multiply(rows.row(0), a, out.row(0));
  else
    kernel::multiply(rows, a, out);
}

// Some rows, from the top down: each top layer asked for starts its own when it is passed, and all
// that have started go through the layers below together.
void fold_rows_down(Layers& layers, const std::vector<int>& tops, int count, Attribution& result) {
  const int n = layers.n();
  Matrix rows(count * static_cast<int>(tops.size()), n), next(rows.rows(), n);
  int started = 0;
  layers.each(Direction::down, [&](int layer, MatrixSpan a) {
    if (wanted(tops, layer)) {
      start_rows(MatrixSpan(rows).rows(started, count), result);
      started += count;
    }
    if (started == 0) return;
    multiply_rows(MatrixView(rows).rows(0, started), a, MatrixSpan(next).rows(0, started));
    std::swap(rows, next);
  });
  for (size_t k = tops.size(); k-- > 0;) {
    Matrix one(count, n);
    std::copy_n(MatrixView(rows).row(static_cast<int>(k) * count).data(), one.size(), one.data());
    result.values.push_back(std::move(one));
  }
}

// Some rows of the product the other way round grow from below, so every top layer comes by itself.
void fold_rows_up(Layers& layers, const std::vector<int>& tops, int count, Attribution& result) {
  Matrix rows(count, layers.n()), next(count, layers.n());
  start_rows(rows, result);
  layers.each(Direction::up, [&](int layer, MatrixSpan a) {
    multiply_rows(rows, a, next);
    std::swap(rows, next);
    if (wanted(tops, layer)) result.values.push_back(rows.copy());
  });
}

Attribution roll(Source& source, const Options& options, const std::vector<int>* tops) {
  const Stopwatch whole;
  Layers layers(source, options);
  Attribution result = begin("rollout", layers, options);
  const std::vector<int> last = {layers.range().end - 1};
  std::vector<int> every(static_cast<size_t>(layers.range().size()));
  std::iota(every.begin(), every.end(), layers.range().begin);
  const std::vector<int>& chosen = tops ? (tops->empty() ? every : *tops) : last;
  if (tops) result.by_layer = chosen;
  const int count = result.mean_row ? 1 : static_cast<int>(result.rows.size());
  if (options.row.kind == Row::Kind::all)
    fold_all(layers, chosen, result);
  else if (options.preset == Preset::metrics)
    fold_rows_up(layers, chosen, count, result);
  else
    fold_rows_down(layers, chosen, count, result);
  finish(result, layers, whole.seconds());
  return result;
}

}  // namespace

Attribution rollout(Source& source, const Options& options) {
  return roll(source, options, nullptr);
}

Attribution rollout_by_layer(Source& source, const Options& options) {
  const std::vector<int> every;
  return roll(source, options, &every);
}

Attribution rollout_at(Source& source, const Options& options, const std::vector<int>& tops) {
  return roll(source, options, &tops);
}

}  // namespace headwater
