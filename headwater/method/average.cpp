#include "headwater/method/average.h"

#include "headwater/core/stopwatch.h"
#include "headwater/method/begin.h"

namespace headwater {
namespace {

Attribution mean_of_layers(const char* method, Source& source, const Options& options) {
  const Stopwatch whole;
  Layers layers(source, options);
  Attribution result = begin(method, layers, options);
  const float weight = 1 / static_cast<float>(layers.range().size());
  Matrix mean;
  layers.each(Direction::up, [&](int, MatrixSpan a) {
    const Matrix rows = take_rows(a, result);
    if (mean.size() == 0) mean = Matrix(rows.rows(), rows.columns());
    for (size_t k = 0; k < mean.size(); ++k) mean.data()[k] += weight * rows.data()[k];
  });
  result.values.push_back(std::move(mean));
  finish(result, layers, whole.seconds());
  return result;
}

}  // namespace

Attribution average(Source& source, const Options& options) {
  return mean_of_layers("average", source, options);
}

Attribution raw(Source& source, int layer, const Options& options) {
  const Example& example = source.example();
  const int place = resolve_index(layer, example.layers, "layer", example.name);
  Options bare = options;
  bare.preset = Preset::paper;
  bare.residual = 0;
  bare.discard = 0;
  bare.divide = Divide::changed;
  bare.layers = {place, place + 1};
  return mean_of_layers("raw", source, bare);
}

}  // namespace headwater
