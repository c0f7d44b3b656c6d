#include "headwater/method/average.h"

#include <algorithm>

#include "headwater/core/stopwatch.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/assemble.h"

namespace headwater {
namespace {

// Sums only the requested rows of each layer; some sources can compute those without the others.
struct SomeRows : RowVisitor {
  SomeRows(const std::vector<int>& rows, int n, float weight)
      : rows(rows), weight(weight), sum(static_cast<int>(rows.size()), n) {}

  bool wants(int, int first, int count) override {
    return std::ranges::any_of(rows, [&](int i) { return i >= first && i < first + count; });
  }
  void take(int, int first, MatrixSpan block) override {
    for (int r = 0; r < sum.rows(); ++r) {
      const int i = rows[static_cast<size_t>(r)] - first;
      if (i < 0 || i >= block.rows()) continue;
      for (int j = 0; j < sum.columns(); ++j) sum(r, j) += weight * block(i, j);
    }
  }

  const std::vector<int>& rows;
  float weight;
  Matrix sum;
};

Attribution mean_of_layers(const char* method, Source& source, const Options& options) {
  const Stopwatch whole;
  Layers layers(source, options);
  Attribution result = new_result(method, layers, options);
  const float weight = 1 / static_cast<float>(layers.range().size());
  if (options.row.kind == Row::Kind::all || result.mean_row) {
    Matrix mean;
    layers.each(Direction::up, [&](int, MatrixSpan a) {
      const Matrix rows = take_rows(a, result);
      if (mean.size() == 0) mean = Matrix(rows.rows(), rows.columns());
      for (size_t k = 0; k < mean.size(); ++k) mean.data()[k] += weight * rows.data()[k];
    });
    result.values.push_back(std::move(mean));
  } else {
    SomeRows some(result.rows, layers.n(), weight);
    layers.each_rows(Direction::up, some);
    result.values.push_back(std::move(some.sum));
  }
  complete(result, layers, whole.seconds());
  return result;
}

}  // namespace

Attribution average(Source& source, const Options& options) {
  return mean_of_layers("average", source, options);
}

Attribution raw(Source& source, int layer, const Options& options) {
  const Description& described = source.description();
  const int place = resolve_index(layer, described.layers, "layer", described.name);
  Options bare = options;
  bare.preset = Preset::paper;
  bare.residual = 0;
  bare.discard = 0;
  bare.divide = Divide::changed;
  bare.layers = {place, place + 1};
  return mean_of_layers("raw", source, bare);
}

}  // namespace headwater
