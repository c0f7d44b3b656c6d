#include "headwater/method/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "headwater/core/fail.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/align.h"
#include "headwater/method/assemble.h"
#include "headwater/method/average.h"
#include "headwater/method/average_ranks.h"
#include "headwater/method/rollout.h"
#include "headwater/method/spearman.h"
#include "headwater/result/find_rows.h"
#include "headwater/result/merge.h"
#include "headwater/result/words.h"

namespace headwater {
namespace {

constexpr size_t most_panels = 1024;
constexpr size_t most_numbers_of_heads = size_t{1} << 26;

void add(Comparison& comparison, std::string label, Attribution result) {
  result.label = std::move(label);
  comparison.panels.push_back(std::move(result));
}

Comparison done(Comparison comparison) {
  comparison.agreement = agreement(comparison.panels);
  return comparison;
}

// Up to six layers: all. More: every quarter and the last.
std::vector<int> shown_layers(Range range) {
  const int count = range.size();
  std::vector<int> shown(static_cast<size_t>(count));
  std::iota(shown.begin(), shown.end(), 0);
  if (count > 6) shown = {0, count / 4, 2 * (count / 4), 3 * (count / 4), count - 1};
  for (int& layer : shown) layer += range.begin;
  return shown;
}

}  // namespace

Comparison compare_layer(Source& source, const Options& options, int layer) {
  Comparison comparison{"layer", {}, {}};
  Attribution single = raw(source, layer, options);
  const int place = single.layers.begin;
  add(comparison, fmt::format("layer {}", place), std::move(single));
  add(comparison, "rollout", rollout(source, options));
  return done(std::move(comparison));
}

std::vector<int> chosen_layers(Source& source, const Options& options,
                               const std::vector<int>& shown) {
  const Description& described = source.description();
  const Range range = resolve(options.layers, described.layers, described.name);
  std::vector<int> out;
  for (const int layer : shown) {
    out.push_back(resolve_index(layer, described.layers, "layer", described.name));
    if (out.back() < range.begin || out.back() >= range.end)
      fail(
          "{}: layer {} is not within `layers` {}:{}, expected only layers in that range; "
          "choose others",
          described.name, layer, range.begin, range.end);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Comparison compare_evolution(Source& source, const Options& options,
                             const std::vector<int>& shown) {
  Comparison comparison{"evolution", {}, {}};
  const Description& described = source.description();
  Attribution all = rollout_up_to(
      source, options,
      shown.empty() ? shown_layers(resolve(options.layers, described.layers, described.name))
                    : chosen_layers(source, options, shown));
  for (size_t k = 0; k < all.values.size(); ++k) {
    const int top = all.by_layer[k];
    Attribution panel;
    panel.method = all.method;
    panel.options = all.options;
    panel.layers = {all.layers.begin, top + 1};
    panel.source = all.source;
    panel.rows = all.rows;
    panel.mean_row = all.mean_row;
    panel.values.push_back(std::move(all.values[k]));
    panel.notes = all.notes;
    panel.timing = all.timing;
    add(comparison, fmt::format("after layer {}", top), std::move(panel));
  }
  return done(std::move(comparison));
}

Comparison compare_discard(Source& source, const Options& options,
                           const std::vector<double>& discards) {
  if (options.discard != options_of(options.preset).discard)
    fail_usage("`discard` {}: is what a comparison by discard varies, expected none; leave it out",
               options.discard);
  Comparison comparison{"discard", {}, {}};
  for (const double discard : discards) {
    Options changed = options;
    changed.discard = discard;
    check(changed);
    add(comparison, fmt::format("discard {}", discard), rollout(source, changed));
  }
  return done(std::move(comparison));
}

Comparison compare_fuse(Source& source, const Options& options) {
  if (options.fuse != options_of(options.preset).fuse)
    fail_usage("`fuse` {}: is what a comparison by fuse varies, expected none; leave it out",
               to_string(options.fuse));
  Comparison comparison{"fuse", {}, {}};
  for (const Fuse& fuse : {Fuse::mean, Fuse::max, Fuse::min}) {
    Options changed = options;
    changed.fuse = fuse;
    add(comparison, "fuse " + to_string(fuse), rollout(source, changed));
  }
  return done(std::move(comparison));
}

Comparison compare_head(Source& source, const Options& options) {
  Comparison comparison{"head", {}, {}};
  const Description& described = source.description();
  const Range range = resolve(options.layers, described.layers, described.name);
  const auto heads_of = [&](int layer) { return described.heads.at(static_cast<size_t>(layer)); };
  const size_t rows = options.row.kind == Row::Kind::mean
                          ? 1
                          : find_rows(options.row, described.tokens, described.name).size();
  size_t panels = 0;
  for (int l = range.begin; l < range.end; ++l) panels += static_cast<size_t>(heads_of(l));
  if (panels > most_panels || panels * rows * described.tokens.size() > most_numbers_of_heads)
    fail(
        "{}: has {} heads in {} layers with {} tokens, too many to show side by side, expected "
        "fewer; choose `layers` or a `row`",
        described.name, panels, range.size(), described.tokens.size());
  // From the top: a model then keeps what the layers below need too.
  for (int l = range.end - 1; l >= range.begin; --l)
    for (int h = heads_of(l) - 1; h >= 0; --h) {
      Options one = options;
      one.fuse = Fuse::one(h);
      add(comparison, fmt::format("layer {} head {}", l, h), raw(source, l, one));
    }
  std::ranges::reverse(comparison.panels);
  return done(std::move(comparison));
}

Comparison compare_method(Source& source, const Options& options, const FlowOptions& flow_options) {
  Comparison comparison{"method", {}, {}};
  const Description& described = source.description();
  const Range range = resolve(options.layers, described.layers, described.name);
  add(comparison, fmt::format("raw, layer {}", range.end - 1), raw(source, range.end - 1, options));
  add(comparison, "average", average(source, options));
  add(comparison, "rollout", rollout(source, options));
  add(comparison, "flow", flow(source, options, flow_options));
  return done(std::move(comparison));
}

namespace {

std::string base_name(const std::string& path) {
  const std::filesystem::path clean = std::filesystem::path(path + "/").parent_path();
  return clean.has_filename() ? clean.filename().string() : path;
}

// Turns a result over all tokens into one over the pieces that both models share.
void to_pieces(Attribution& result, const Alignment& alignment,
               const std::vector<std::vector<int>>& pieces, int alone, const Options& options) {
  const int tokens = static_cast<int>(result.source.tokens.size());
  const Matrix merged = merge(result.values[0], pieces, pieces);
  if (static_cast<int>(pieces.size()) != tokens || alone > 0)
    result.notes.push_back(fmt::format(
        "{} tokens are shown as the {} pieces of the text that both models share{}", tokens,
        pieces.size(), alone > 0 ? fmt::format("; {} without a counterpart left out", alone) : ""));
  result.source.tokens = alignment.names;
  result.source.ids.clear();
  result.source.places = alignment.places;
  result.source.texts = alignment.texts;
  result.options.row = options.row;
  result.rows = find_rows(options.row, result.source.tokens, result.source.name);
  result.mean_row = options.row.kind == Row::Kind::mean;
  result.values[0] = take_rows(merged, result);
}

}  // namespace

Comparison compare_model(Source& first, Source& second, const Options& options) {
  const Alignment alignment = align(first.description(), second.description());
  Options all = options;
  all.row = {};
  Attribution one = rollout(first, all), other = rollout(second, all);
  to_pieces(one, alignment, alignment.first, alignment.only_first, options);
  to_pieces(other, alignment, alignment.second, alignment.only_second, options);
  std::string label = base_name(one.source.name), other_label = base_name(other.source.name);
  if (label == other_label) {
    label = one.source.name;
    other_label = other.source.name;
  }
  Comparison comparison{"model", {}, {}};
  add(comparison, label, std::move(one));
  add(comparison, other_label, std::move(other));
  return done(std::move(comparison));
}

Comparison merge_words(Comparison comparison) {
  for (Attribution& panel : comparison.panels) panel = merge_words(std::move(panel));
  return done(std::move(comparison));
}

Matrix agreement(const std::vector<Attribution>& results) {
  const int count = static_cast<int>(results.size());
  Matrix mean(count, count);
  if (results.empty()) return mean;
  const int rows = results[0].values.at(0).rows();
  std::vector<double> sums(mean.size());
  std::vector<int> used(mean.size());
  std::vector<std::vector<double>> ranks(results.size());
  for (int r = 0; r < rows; ++r) {
    for (size_t k = 0; k < results.size(); ++k)
      ranks[k] = average_ranks(results[k].values[0].row(r));
    for (size_t a = 0; a < results.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        const double value = correlation(ranks[a], ranks[b]);
        if (std::isnan(value)) continue;
        sums[a * results.size() + b] += value;
        ++used[a * results.size() + b];
      }
    }
  }
  for (int a = 0; a < count; ++a) {
    mean(a, a) = 1;
    for (int b = 0; b < a; ++b) {
      const size_t k = static_cast<size_t>(a) * results.size() + static_cast<size_t>(b);
      mean(a, b) = mean(b, a) = used[k] ? static_cast<float>(sums[k] / used[k]) : 0.0f;
    }
  }
  return mean;
}

}  // namespace headwater
