#include "headwater/method/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/core/parallel.h"
#include "headwater/core/stopwatch.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/rollout.h"
#include "headwater/source/differentiable.h"

namespace headwater {
namespace {

// Sums over rows, so items of any length contribute to one mean.
struct Pool {
  double sum = 0, entropy = 0, concentration = 0, largest = 0, entries = 0, rows = 0;

  void add(MatrixView map, bool divide_rows) {
    struct RowSums {
      double sum, entropy, largest;
    };
    std::vector<RowSums> each(static_cast<size_t>(map.rows()));
    parallel_for(map.rows(), [&](int i) {
      RowSums& row = each[static_cast<size_t>(i)];
      row = {0, 0, 0};
      for (float value : map.row(i)) {
        row.sum += static_cast<double>(value);
        row.largest = std::max(row.largest, static_cast<double>(value));
      }
      const double scale = divide_rows ? 1 / std::max(row.sum, 1e-10) : 1;
      for (float value : map.row(i)) {
        const double share = static_cast<double>(value) * scale;
        row.entropy -= share * std::log(std::max(share, 1e-12));
      }
    });
    for (const RowSums& row : each) {
      sum += row.sum;
      entropy += row.entropy;
      concentration += row.largest;
      largest = std::max(largest, row.largest);
    }
    rows += map.rows();
    entries += static_cast<double>(map.rows()) * map.columns();
  }
};

struct Pools {
  Pool attention, rolled;
  std::vector<std::vector<std::string>> notes;  // of each item
};

// The notes of all items. A note that all items share appears once; any other note names its items.
std::vector<std::string> notes_of(const std::vector<std::vector<std::string>>& items) {
  std::vector<std::string> out;
  for (size_t k = 0; k < items.size(); ++k)
    for (const std::string& note : items[k]) {
      const bool shared = std::ranges::all_of(items, [&](const std::vector<std::string>& other) {
        return std::ranges::find(other, note) != other.end();
      });
      if (items.size() == 1)
        out.push_back(note);
      else if (!shared)
        out.push_back(fmt::format("item {}: {}", k, note));
      else if (k == 0)
        out.push_back("in each item: " + note);
    }
  return out;
}

void add_item(Source& source, const Options& options, int layer, Pools& pools, Metrics& result) {
  const Stopwatch whole;
  source.layers(options.fuse, {layer, layer + 1}, Direction::up,
                [&](int, MatrixSpan map) { pools.attention.add(map, false); });
  Options all = options;
  all.row = {};
  const Attribution rolled = rollout(source, all);
  pools.rolled.add(rolled.values[0], true);
  result.layers = rolled.layers;
  pools.notes.push_back(rolled.notes);
  result.timing.reading += rolled.timing.reading;
  result.timing.preparing += rolled.timing.preparing;
  result.timing.method += whole.seconds() - rolled.timing.reading - rolled.timing.preparing;
  ++result.batch_size;
}

Metrics start(const Description& described, const Options& options, int layer) {
  Metrics result;
  result.options = options;
  result.layer = resolve_index(layer, described.layers, "layer", described.name);
  result.source = described;
  result.seq_length = described.padded;
  return result;
}

Metrics finish(Metrics result, const Pools& pools) {
  result.notes = notes_of(pools.notes);
  result.mean_attention = pools.attention.sum / pools.attention.entries;
  result.max_attention = pools.attention.largest;
  result.attention_entropy = pools.attention.entropy / pools.attention.rows;
  result.attention_concentration = pools.attention.concentration / pools.attention.rows;
  result.rollout_max = pools.rolled.largest;
  result.rollout_entropy = pools.rolled.entropy / pools.rolled.rows;
  for (const double value :
       {result.mean_attention, result.max_attention, result.attention_entropy,
        result.attention_concentration, result.rollout_max, result.rollout_entropy})
    if (!std::isfinite(value))
      fail(
          "{}: a metric is {}, expected a number; the weights are too large: divide each row by "
          "its "
          "sum first",
          result.source.name, value);
  return result;
}

}  // namespace

Metrics metrics(Batch& batch, const Options& options, int layer) {
  Pools pools;
  Metrics result = start(batch.item(0)->description(), options, layer);
  for (int k = 0; k < batch.size(); ++k) {
    const std::unique_ptr<Source> source = batch.item(k);
    add_item(*source, options, result.layer, pools, result);
    if (Differentiable* model = source->differentiable())
      if (std::optional<Prediction> said = model->prediction())
        result.predictions.push_back(std::move(*said));
  }
  if (batch.size() == 1 && !result.predictions.empty()) {
    result.prediction = std::move(result.predictions.front());
    result.predictions.clear();
  }
  return finish(std::move(result), pools);
}

Metrics metrics(Source& source, const Options& options, int layer) {
  Pools pools;
  Metrics result = start(source.description(), options, layer);
  add_item(source, options, result.layer, pools, result);
  return finish(std::move(result), pools);
}

}  // namespace headwater
