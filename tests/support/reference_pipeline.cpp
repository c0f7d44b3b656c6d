#include "tests/support/reference_pipeline.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headwater/layer/resolve.h"

namespace headwater::test {
namespace {

double sum_of(const std::vector<double>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0);
}

void mix(Grid& map, double residual) {
  for (size_t i = 0; i < map.size(); ++i)
    for (size_t j = 0; j < map.size(); ++j)
      map[i][j] = (1 - residual) * map[i][j] + (i == j ? residual : 0);
}

void discard(Grid& map, double share) {
  std::vector<double> all;
  for (const auto& row : map) all.insert(all.end(), row.begin(), row.end());
  std::sort(all.begin(), all.end());
  const double threshold =
      all[static_cast<size_t>(std::floor(static_cast<double>(all.size()) * share))];
  for (auto& row : map)
    for (double& value : row)
      if (value < threshold) value = 0;
}

// Marks the rows that have nothing to divide by.
void divide(Grid& map, Empty empty, std::vector<bool>& emptied) {
  for (size_t i = 0; i < map.size(); ++i) {
    const double sum = sum_of(map[i]);
    if (sum > 0) {
      for (double& value : map[i]) value /= sum;
    } else {
      emptied[i] = true;
      if (empty == Empty::identity) map[i][i] = 1;
    }
  }
}

double entropy(const std::vector<double>& row) {
  double total = 0;
  for (double value : row) total -= value * std::log(std::max(value, 1e-12));
  return total;
}

}  // namespace

Grid fuse(const Attention& attention, int layer, int item, const Fuse& how) {
  const auto n = static_cast<size_t>(attention.n);
  Grid map(n, std::vector<double>(n));
  for (int i = 0; i < attention.n; ++i)
    for (int j = 0; j < attention.n; ++j) {
      std::vector<double> heads;
      for (int h = 0; h < attention.heads; ++h) heads.push_back(attention.at(layer, item, h, i, j));
      double& out = map[static_cast<size_t>(i)][static_cast<size_t>(j)];
      if (how == Fuse::mean) out = sum_of(heads) / attention.heads;
      if (how == Fuse::max) out = *std::max_element(heads.begin(), heads.end());
      if (how == Fuse::min) out = *std::min_element(heads.begin(), heads.end());
      if (how.kind == Fuse::Kind::head)
        out = heads.at(static_cast<size_t>(how.head < 0 ? how.head + attention.heads : how.head));
    }
  return map;
}

int prepare(Grid& map, const Options& options) {
  std::vector<bool> emptied(map.size());
  const bool always = options.divide == Divide::always;
  if (options.order == Order::discard_first) {
    if (options.discard > 0) discard(map, options.discard);
    mix(map, options.residual);
    if (always || options.discard > 0 || options.residual > 0) divide(map, options.empty, emptied);
  } else {
    mix(map, options.residual);
    if (always || options.residual > 0) divide(map, options.empty, emptied);
    if (options.discard > 0) {
      discard(map, options.discard);
      divide(map, options.empty, emptied);
    }
  }
  return static_cast<int>(std::count(emptied.begin(), emptied.end(), true));
}

std::vector<Grid> prepare_layers(const Attention& attention, int item, const Options& options) {
  const Range range = resolve(options.layers, attention.layers, "reference");
  std::vector<Grid> layers;
  for (int l = range.begin; l < range.end; ++l) {
    layers.push_back(fuse(attention, l, item, options.fuse));
    if (options.preset != Preset::metrics || l > range.begin) prepare(layers.back(), options);
  }
  return layers;
}

Grid multiply(const Grid& a, const Grid& b) {
  Grid out(a.size(), std::vector<double>(b[0].size(), 0));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < b.size(); ++k)
      for (size_t j = 0; j < b[0].size(); ++j) out[i][j] += a[i][k] * b[k][j];
  return out;
}

std::vector<Grid> rollouts(const Attention& attention, int item, const Options& options) {
  std::vector<Grid> rolled;
  for (const Grid& layer : prepare_layers(attention, item, options)) {
    if (rolled.empty())
      rolled.push_back(layer);
    else if (options.preset == Preset::metrics)
      rolled.push_back(multiply(rolled.back(), layer));
    else
      rolled.push_back(multiply(layer, rolled.back()));
  }
  return rolled;
}

Grid average_of(const Attention& attention, int item, const Options& options) {
  const std::vector<Grid> layers = prepare_layers(attention, item, options);
  Grid mean(layers[0].size(), std::vector<double>(layers[0].size(), 0));
  for (const Grid& layer : layers)
    for (size_t i = 0; i < mean.size(); ++i)
      for (size_t j = 0; j < mean.size(); ++j)
        mean[i][j] += layer[i][j] / static_cast<double>(layers.size());
  return mean;
}

Metrics metrics_of(const Attention& attention, const Options& options, int layer) {
  Metrics out;
  const double rows = attention.items * attention.n;
  for (int item = 0; item < attention.items; ++item) {
    for (const auto& row : fuse(attention, layer, item, options.fuse)) {
      const double largest = *std::max_element(row.begin(), row.end());
      out.mean_attention += sum_of(row) / rows / attention.n;
      out.max_attention = std::max(out.max_attention, largest);
      out.attention_entropy += entropy(row) / rows;
      out.attention_concentration += largest / rows;
    }
    const Grid rolled = rollouts(attention, item, options).back();
    for (auto row : rolled) {
      out.rollout_max = std::max(out.rollout_max, *std::max_element(row.begin(), row.end()));
      const double sum = sum_of(row);
      for (double& value : row) value /= sum;
      out.rollout_entropy += entropy(row) / rows;
    }
  }
  out.batch_size = attention.items;
  out.seq_length = attention.n;
  return out;
}

}  // namespace headwater::test
