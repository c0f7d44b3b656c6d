#include "headwater/method/rollout.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>

#include "headwater/core/stopwatch.h"
#include "headwater/kernel/maps.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/assemble.h"

namespace headwater {
namespace {

bool wanted(const std::vector<int>& tops, int layer) {
  return std::ranges::binary_search(tops, layer);
}

// All rows: computes R from the bottom up, with two matrices besides the layer's own.
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

// The requested rows of the identity: e_i for each, or their mean.
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

// next = rows A, one block of A's rows at a time: sums rows(:, block) A(block, :).
class RowsTimesLayer : public RowVisitor {
 public:
  RowsTimesLayer(int count, int n) : rows(count, n), next_(count, n), part_(0, 0), sums_() {}

  Matrix rows;
  int used = 0;  // rows that have started

  bool wants(int layer, int first, int count) override {
    enter(layer);
    for (int r = 0; r < used; ++r)
      for (const float weight :
           rows.row(r).subspan(static_cast<size_t>(first), static_cast<size_t>(count)))
        if (weight != 0) return true;
    return false;
  }
  void take(int, int first, MatrixSpan a) override {
    const MatrixView weights(rows.data() + first, used, a.rows(), rows.columns());
    if (a.rows() == rows.columns()) {
      multiply_rows(weights, a, MatrixSpan(next_).rows(0, used));
      whole_ = true;
      return;
    }
    if (part_.rows() != rows.rows()) part_ = Matrix(rows.rows(), rows.columns());
    multiply_rows(weights, a, MatrixSpan(part_).rows(0, used));
    for (size_t k = 0; k < sums_.size(); ++k) sums_[k] += static_cast<double>(part_.data()[k]);
  }

  /// Called before the first block of each layer.
  std::function<void(int layer)> start = [](int) {};
  /// Called after the last block of each layer.
  std::function<void(int layer)> end = [](int) {};
  /// Ends the last layer, which no next layer ends.
  void finish() {
    if (layer_ >= 0) leave();
  }

 private:
  void enter(int layer) {
    if (layer == layer_) return;
    finish();
    layer_ = layer;
    start(layer);
    whole_ = false;
    sums_.assign(static_cast<size_t>(used) * static_cast<size_t>(rows.columns()), 0.0);
  }
  void leave() {
    if (!whole_)
      for (size_t k = 0; k < sums_.size(); ++k) next_.data()[k] = static_cast<float>(sums_[k]);
    if (used > 0) std::swap(rows, next_);
    end(layer_);
    layer_ = -1;
  }

  Matrix next_, part_;
  std::vector<double> sums_;
  bool whole_ = false;  // the layer arrived as one block
  int layer_ = -1;
};

// Some rows, from the top down. Each requested top layer starts its own rows when it is reached;
// all started rows then pass through the lower layers together.
void fold_rows_down(Layers& layers, const std::vector<int>& tops, int count, Attribution& result) {
  const int n = layers.n();
  RowsTimesLayer fold(count * static_cast<int>(tops.size()), n);
  fold.start = [&](int layer) {
    if (!wanted(tops, layer)) return;
    start_rows(MatrixSpan(fold.rows).rows(fold.used, count), result);
    fold.used += count;
  };
  layers.each_rows(Direction::down, fold);
  fold.finish();
  for (size_t k = tops.size(); k-- > 0;) {
    Matrix one(count, n);
    std::copy_n(MatrixView(fold.rows).row(static_cast<int>(k) * count).data(), one.size(),
                one.data());
    result.values.push_back(std::move(one));
  }
}

// Some rows of the reversed product. It grows from the bottom up, so each top layer is a prefix.
void fold_rows_up(Layers& layers, const std::vector<int>& tops, int count, Attribution& result) {
  RowsTimesLayer fold(count, layers.n());
  start_rows(fold.rows, result);
  fold.used = count;
  fold.end = [&](int layer) {
    if (wanted(tops, layer)) result.values.push_back(fold.rows.copy());
  };
  layers.each_rows(Direction::up, fold);
  fold.finish();
}

Attribution roll(Source& source, const Options& options, const std::vector<int>* tops) {
  const Stopwatch whole;
  Layers layers(source, options);
  Attribution result = new_result("rollout", layers, options);
  const std::vector<int> last = {layers.range().end - 1};
  const std::vector<int>& chosen = tops ? *tops : last;
  if (tops) result.by_layer = chosen;
  const int count = result.mean_row ? 1 : static_cast<int>(result.rows.size());
  if (options.row.kind == Row::Kind::all)
    fold_all(layers, chosen, result);
  else if (options.preset == Preset::metrics)
    fold_rows_up(layers, chosen, count, result);
  else
    fold_rows_down(layers, chosen, count, result);
  complete(result, layers, whole.seconds());
  return result;
}

}  // namespace

Attribution rollout(Source& source, const Options& options) {
  return roll(source, options, nullptr);
}

Attribution rollout_by_layer(Source& source, const Options& options) {
  const Description& description = source.description();
  const Range range = resolve(options.layers, description.layers, description.name);
  std::vector<int> every(static_cast<size_t>(range.size()));
  std::iota(every.begin(), every.end(), range.begin);
  return roll(source, options, &every);
}

Attribution rollout_up_to(Source& source, const Options& options, const std::vector<int>& tops) {
  assert(!tops.empty());
  return roll(source, options, &tops);
}

}  // namespace headwater
