#include "headwater/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater {
namespace {

constexpr std::string_view kinds[] = {"default", "linear", "dynamic", "llama3", "yarn", "longrope"};

double positive(const Config& config, std::string_view key, double value) {
  if (!(value > 0 && value < 1e15))
    fail("{}: '{}' is {}, expected a number above 0; check the file", config.name(), key, value);
  return value;
}

void read_llama3(const Config& entries, Rope& rope) {
  rope.low_factor = positive(entries, "low_freq_factor", entries.number("low_freq_factor"));
  rope.high_factor = positive(entries, "high_freq_factor", entries.number("high_freq_factor"));
  if (!(rope.low_factor < rope.high_factor))
    fail("{}: low_freq_factor is {}, expected less than high_freq_factor, {}; check the file",
         entries.name(), rope.low_factor, rope.high_factor);
}

double yarn_scale(double factor, double weight) {
  return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
}

void read_yarn(const Config& entries, Rope& rope) {
  const auto or_default = [&](std::string_view key, double otherwise) {
    const double value = entries.number_or(key, otherwise);
    return value == 0 ? otherwise : positive(entries, key, value);
  };
  rope.beta_fast = or_default("beta_fast", 32);
  rope.beta_slow = or_default("beta_slow", 1);
  rope.truncate = entries.flag_or("truncate", true);
  const double scale = entries.number_or("mscale", 0), all = entries.number_or("mscale_all_dim", 0);
  if (entries.has("attention_factor"))
    rope.scale = positive(entries, "attention_factor", entries.number("attention_factor"));
  else if (scale != 0 && all != 0)
    rope.scale = yarn_scale(rope.factor, scale) / yarn_scale(rope.factor, all);
  else
    rope.scale = yarn_scale(rope.factor, 1);
}

void read_longrope(const Config& entries, Rope& rope) {
  rope.short_factors = entries.numbers("short_factor");
  rope.long_factors = entries.numbers("long_factor");
  for (const std::vector<double>* factors : {&rope.short_factors, &rope.long_factors})
    for (const double factor : *factors)
      positive(entries, factors == &rope.short_factors ? "short_factor" : "long_factor", factor);
  if (entries.has("attention_factor"))
    rope.scale = positive(entries, "attention_factor", entries.number("attention_factor"));
  else if (rope.factor > 1 && rope.original_positions > 1)
    rope.scale = std::sqrt(1 + std::log(rope.factor) / std::log(rope.original_positions));
}

// `original` is the value outside of the entries, if there is one; it takes precedence.
void read_entries(const Config& entries, int positions, std::optional<int> original, Rope& rope) {
  if (entries.has("rope_theta"))
    rope.theta = positive(entries, "rope_theta", entries.number("rope_theta"));
  rope.kind =
      entries.has("rope_type") ? entries.text("rope_type") : entries.text_or("type", "default");
  entries.pass_over({"type"});  // next to rope_type, the same in an older spelling
  // Older names.
  if (rope.kind == "su" || (rope.kind == "yarn" && entries.has("long_factor")))
    rope.kind = "longrope";
  if (std::ranges::find(kinds, rope.kind) == std::end(kinds))
    fail("{}: rope_type '{}' is not implemented{}", entries.name(), rope.kind,
         suggestion(rope.kind, kinds));
  if (rope.kind == "default") {
    // Left over from other kinds; they have no effect here.
    entries.pass_over({"factor", "original_max_position_embeddings"});
    entries.finish();
    return;
  }
  const bool extended = rope.kind == "llama3" || rope.kind == "yarn" || rope.kind == "longrope";
  const char* key = "original_max_position_embeddings";
  rope.original_positions =
      extended ? original.value_or(entries.integer_or(key, positions)) : positions;
  entries.pass_over({key});
  if (rope.kind != "linear" && rope.kind != "dynamic" && rope.kind != "llama3" &&
      !entries.has("factor"))
    rope.factor = positions / rope.original_positions;
  else
    rope.factor = positive(entries, "factor", entries.number("factor"));
  if (rope.kind == "llama3") read_llama3(entries, rope);
  if (rope.kind == "yarn") read_yarn(entries, rope);
  if (rope.kind == "longrope") read_longrope(entries, rope);
  entries.finish();
}

double llama3_frequency(const Rope& rope, double frequency) {
  const double length = 2 * std::numbers::pi / frequency;
  if (length < rope.original_positions / rope.high_factor) return frequency;
  if (length > rope.original_positions / rope.low_factor) return frequency / rope.factor;
  const double smooth =
      (rope.original_positions / length - rope.low_factor) / (rope.high_factor - rope.low_factor);
  return (1 - smooth) * frequency / rope.factor + smooth * frequency;
}

double yarn_frequency(const Rope& rope, int pair, double frequency) {
  // The pair that rotates `turns` times within the original positions.
  const auto pair_of = [&](double turns) {
    return rope.size * std::log(rope.original_positions / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(rope.theta));
  };
  double low = pair_of(rope.beta_fast), high = pair_of(rope.beta_slow);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, rope.size - 1.0);
  if (low == high) high += 0.001;
  const double ramp = std::clamp((pair - low) / (high - low), 0.0, 1.0);
  return frequency / rope.factor * ramp + frequency * (1 - ramp);
}

}  // namespace

Rope read_rope(const Config& config, int head_size, int positions, std::optional<double> share,
               double theta) {
  Rope rope;
  rope.theta = theta;
  const auto read_share = [&](const Config& from, const char* key) {
    if (!share) return from.expect_number(key, 1);
    share = from.number_or(key, *share);
    if (!(*share > 0 && *share <= 1))
      fail("{}: '{}' is {}, expected more than 0 and at most 1; check the file", from.name(), key,
           *share);
  };
  std::optional<int> original;
  if (config.has("original_max_position_embeddings"))
    original = config.integer("original_max_position_embeddings");
  for (const char* key : {"rope_theta", "rotary_emb_base"})
    if (config.has(key)) rope.theta = positive(config, key, config.number(key));
  for (const char* key : {"partial_rotary_factor", "rotary_pct"}) read_share(config, key);
  const bool scaled = !config.keys("rope_scaling").empty();
  for (const char* key : {"rope_parameters", "rope_scaling"})
    if (const auto entries = config.object(key)) {
      // One for each kind of layer, or one for all.
      if (const auto full = entries->object("full_attention")) {
        read_entries(*full, positions, {}, rope);
        entries->pass_over({"sliding_attention"});
        entries->finish();
        continue;
      }
      // rope_scaling, its older name, takes its place.
      if (scaled && std::string_view(key) == "rope_parameters") continue;
      read_share(*entries, "partial_rotary_factor");
      read_entries(*entries, positions, original, rope);
    }
  rope.size = static_cast<int>(head_size * share.value_or(1));
  if (rope.size % 2 != 0 || rope.size == 0)
    fail(
        "{}: {} numbers of each head are rotated, expected an even number, in pairs; check the "
        "file",
        config.name(), rope.size);
  const auto pairs = static_cast<size_t>(rope.size / 2);
  if (rope.kind == "longrope" &&
      (rope.short_factors.size() != pairs || rope.long_factors.size() != pairs))
    fail("{}: short_factor and long_factor have {} and {} numbers, expected {}; check the file",
         config.name(), rope.short_factors.size(), rope.long_factors.size(), pairs);
  return rope;
}

Rope read_window_rope(const Config& config, int head_size, int positions, double theta) {
  Rope rope;
  rope.size = head_size;
  rope.theta = theta;
  const char* key = "rope_local_base_freq";
  if (config.has(key)) rope.theta = positive(config, key, config.number(key));
  if (const auto entries = config.object("rope_parameters")) {
    if (const auto sliding = entries->object("sliding_attention"))
      read_entries(*sliding, positions, {}, rope);
    else if (!entries->has("full_attention") && !config.keys("rope_parameters").empty())
      fail(
          "{}: 'rope_parameters' does not name the kinds of layers, expected entries under "
          "full_attention and sliding_attention; check the file",
          config.name());
  }
  return rope;
}

Angles angles(const Rope& rope, int first, int n, int length) {
  const int pairs = rope.size / 2;
  double theta = rope.theta;
  if (rope.kind == "dynamic" && length > rope.original_positions)
    theta *= std::pow(rope.factor * length / rope.original_positions - (rope.factor - 1),
                      rope.size / (rope.size - 2.0));
  Vector frequencies(static_cast<size_t>(pairs));
  for (int d = 0; d < pairs; ++d) {
    double frequency = std::pow(theta, -2.0 * d / rope.size);
    if (rope.kind == "linear") frequency /= rope.factor;
    if (rope.kind == "llama3") frequency = llama3_frequency(rope, frequency);
    if (rope.kind == "yarn") frequency = yarn_frequency(rope, d, frequency);
    if (rope.kind == "longrope")
      frequency /= (length > rope.original_positions ? rope.long_factors
                                                     : rope.short_factors)[static_cast<size_t>(d)];
    frequencies[static_cast<size_t>(d)] = static_cast<float>(frequency);
  }
  Angles table{Matrix(n, pairs), Matrix(n, pairs)};
  for (int t = 0; t < n; ++t)
    for (int d = 0; d < pairs; ++d) {
      const float angle = static_cast<float>(first + t) * frequencies[static_cast<size_t>(d)];
      table.cosine(t, d) = static_cast<float>(std::cos(static_cast<double>(angle)) * rope.scale);
      table.sine(t, d) = static_cast<float>(std::sin(static_cast<double>(angle)) * rope.scale);
    }
  return table;
}

}  // namespace headwater
