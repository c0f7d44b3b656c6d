#include "headwater/method/flow/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headwater/core/fail.h"
#include "headwater/core/stopwatch.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/assemble.h"
#include "headwater/method/flow/capacities.h"
#include "headwater/method/flow/cut.h"
#include "headwater/method/flow/pairs.h"

namespace headwater {
namespace {

constexpr int most_tokens = 32768;
constexpr double worth_a_note = 0.5;  // the share of saturated pairs

std::vector<int> all_tokens(int n) {
  std::vector<int> tokens(static_cast<size_t>(n));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

void normalise(DoubleMatrix& values) {
  for (int r = 0; r < values.rows(); ++r) {
    const std::span<double> row = values.row(r);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (sum > 0)
      for (double& x : row) x /= sum;
  }
}

// The values of one top level as fractions of 1, or the mean over their rows.
DoubleMatrix in_units_of_one(const std::vector<int32_t>& values, int rows, bool mean) {
  const int columns = static_cast<int>(values.size()) / rows;
  DoubleMatrix out(mean ? 1 : rows, columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      out.row(mean ? 0 : r)[static_cast<size_t>(c)] += std::ldexp(
          values[static_cast<size_t>(r) * static_cast<size_t>(columns) + static_cast<size_t>(c)],
          -30);
  if (mean)
    for (double& x : out.row(0)) x /= rows;
  return out;
}

Matrix rounded(const DoubleMatrix& values) {
  Matrix out(values.rows(), values.columns());
  for (int r = 0; r < values.rows(); ++r)
    std::ranges::transform(values.row(r), out.row(r).begin(),
                           [](double x) { return static_cast<float>(x); });
  return out;
}

std::string saturation_note(double share) {
  return fmt::format(
      "{:.3g} % of the values are saturated: the input token can take in no more. They are the "
      "same for every output token and say nothing about it; use flow over fewer layers",
      std::floor(1000 * share) / 10);
}

}  // namespace

Attribution flow(Source& source, const Options& options, const FlowOptions& flow_options) {
  const Stopwatch whole;
  Layers layers(source, options);
  Attribution result = new_result("flow", layers, options);
  const int n = layers.n();
  if (n > most_tokens)
    fail("{}: has {} tokens, expected at most {} for flow; use rollout", result.source.name, n,
         most_tokens);
  FlowRequest request;
  request.sources = result.mean_row ? all_tokens(n) : result.rows;
  request.sinks = all_tokens(n);
  if (flow_options.column)
    request.sinks = {resolve_index(*flow_options.column, n, "column", result.source.name)};
  request.every_top = flow_options.every_layer;
  request.certify = flow_options.certify;
  request.progress = flow_options.progress;
  if (flow_options.column) result.columns = request.sinks;
  if (flow_options.cut && (request.sources.size() != 1 || !flow_options.column || result.mean_row))
    fail_usage("`cut`: belongs to one pair, expected one `row` and one `column`; choose both");

  Capacities capacities(n);
  layers.each(Direction::up, [&](int layer, MatrixSpan map) {
    capacities.add(map);
    if (flow_options.every_layer) result.by_layer.push_back(layer);
  });
  const FlowValues values = flow_of_pairs(capacities, request);
  if (flow_options.cut) {
    PairFlow flow =
        pair_flow(capacities, request.sources.front(), request.sinks.front(), layers.range().begin);
    result.cut = std::move(flow.cut);
    result.carried = std::move(flow.carried);
  }

  const int rows = static_cast<int>(request.sources.size());
  for (const std::vector<int32_t>& top : values.tops) {
    result.exact.push_back(in_units_of_one(top, rows, result.mean_row));
    if (flow_options.normalise) normalise(result.exact.back());
    result.values.push_back(rounded(result.exact.back()));
  }
  complete(result, layers, whole.seconds());
  const size_t pairs = request.sources.size() * request.sinks.size();
  const double share =
      pairs ? static_cast<double>(values.saturated) / static_cast<double>(pairs) : 0;
  if (share >= worth_a_note) result.notes.push_back(saturation_note(share));
  if (flow_options.normalise) result.notes.push_back("rows were divided by their sums");
  if (flow_options.certify)
    result.notes.push_back(
        fmt::format("all {} values certified: a feasible flow and an upper bound equal to it, both "
                    "checked again",
                    pairs * values.tops.size()));
  return result;
}

}  // namespace headwater
