#include "headwater/output/terminal/terminal.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headwater/core/display_width.h"
#include "headwater/output/caption.h"
#include "headwater/output/colour.h"
#include "headwater/output/picture/figure_overlay.h"
#include "headwater/output/shade.h"
#include "headwater/output/terminal/patches.h"
#include "headwater/output/terminal/relevance.h"
#include "headwater/output/terminal/table.h"
#include "headwater/result/columns.h"
#include "headwater/result/left_out.h"
#include "headwater/result/row_to_show.h"
#include "headwater/result/token_text.h"
#include "headwater/result/top.h"

namespace headwater {
namespace {

constexpr int top_count = 5;
constexpr int bar_columns = 24;

// One row as displayed.
struct ShownRow {
  std::vector<bool> kept;
  Vector values;
  double top = 0, mass = 0;
  double full = 1;  // the value that gets the full shade
  bool has_signs;

  ShownRow(const Attribution& result, int r, const Filter& filter)
      : kept(headwater::kept(filter, result.source.tokens)), has_signs(result.has_signs) {
    const std::span<const float> row = values_to_show(result).row(r);
    values.assign(row.begin(), row.end());
    mass = mass_left_out(row, kept);
    if (filter.any() && filter.renormalise && !has_signs) renormalise(row, kept, values);
    for (size_t j = 0; j < values.size(); ++j) {
      if (!std::isfinite(values[j])) values[j] = 0;
      if (kept[j]) top = std::max<double>(top, std::abs(values[j]));
    }
    full = full_shade(values, kept);
  }

  Colour shade(size_t j) const {
    return colour_at(has_signs ? Ramp::red_blue_shade : Ramp::shade, values[j] / full);
  }
};

std::vector<std::string> notes_of(const Attribution& result, const Filter& filter, double mass) {
  std::vector<std::string> out;
  for (const std::string& note : result.notes) out.push_back(harmless(note));
  if (filter.any())
    out.push_back(fmt::format("the filter left out {:.1f} % of this row{}", 100 * mass,
                              filter.renormalise ? "; the rest is divided by its sum" : ""));
  return out;
}

std::string first_line(const Attribution& result, int r) {
  return fmt::format("{}, {}: {}", title_of(result), row_name(result, r),
                     fmt::join(details_of(result, {}), ", "));
}

std::string background(Colour c) {
  return fmt::format("\x1b[48;2;{};{};{}m\x1b[38;2;0;0;0m", c.red, c.green, c.blue);
}

std::string shaded(const Attribution& result, const ShownRow& row, int width) {
  const std::vector<Piece> pieces = running_text(result.source.tokens, std::max(8, width / 2));
  std::string out;
  int column = 0;
  for (size_t j = 0; j < pieces.size(); ++j) {
    const int columns = display_width(pieces[j].text);
    if (column > 0 && column + pieces[j].space + columns > width) {
      out += '\n';
      column = 0;
    } else if (column > 0 && pieces[j].space) {
      out += ' ';
      ++column;
    }
    if (row.kept[j] && !pieces[j].text.empty())
      out += background(row.shade(j)) + pieces[j].text + "\x1b[0m";
    else
      out += pieces[j].text;
    column += columns;
    if (pieces[j].ends_line) {
      out += '\n';
      column = 0;
    }
  }
  return column > 0 ? out + '\n' : out;
}

std::string largest(const Attribution& result, const ShownRow& row) {
  const std::vector<std::string> labels = token_labels(result.source.tokens);
  std::string out;
  const auto list = [&](std::span<const float> values) {
    for (const int j : top(values, top_count, row.kept)) {
      const size_t k = static_cast<size_t>(j);
      if (row.has_signs && !(values[k] > 0)) continue;
      out += fmt::format("  {:7.4f}  {} {} \x1b[0m  {}\n", row.values[k], background(row.shade(k)),
                         labels[k], j);
    }
  };
  list(row.values);
  if (row.has_signs) {
    Vector against;
    for (const float value : row.values) against.push_back(-value);
    list(against);
  }
  if (row.top > row.full) out += fmt::format("  (shaded up to {:.4f})\n", row.full);
  return out;
}

std::string value_text(double value) { return fmt::format("{:.6f}", value); }

std::string table_of_row(const Attribution& result, const ShownRow& row) {
  const std::vector<std::string> labels = token_labels(result.source.tokens);
  std::vector<std::vector<std::string>> lines = {{"index", "token", "value", ""}};
  for (size_t j = 0; j < labels.size(); ++j) {
    if (!row.kept[j]) continue;
    const double share = row.top > 0 ? std::abs(row.values[j]) / row.top : 0;
    lines.push_back(
        {std::to_string(j), labels[j], value_text(row.values[j]),
         std::string(static_cast<size_t>(std::lround(bar_columns * std::clamp(share, 0.0, 1.0))),
                     row.values[j] < 0 ? '-' : '#')});
  }
  return table(lines, {true, false, true, false});
}

std::string agreement_table(const Comparison& result) {
  std::vector<std::vector<std::string>> lines = {{"agreement"}};
  for (const Attribution& panel : result.panels)
    lines[0].push_back(shortened(harmless(panel.label), 24));
  for (int a = 0; a < result.agreement.rows(); ++a) {
    lines.push_back({lines[0][static_cast<size_t>(a) + 1]});
    for (int b = 0; b < result.agreement.columns(); ++b)
      lines.back().push_back(fmt::format("{:.3f}", result.agreement(a, b)));
  }
  std::vector<bool> right(lines[0].size(), true);
  right[0] = false;
  return table(lines, right);
}

std::string heads_text(const std::vector<int>& heads) {
  const bool agree =
      std::adjacent_find(heads.begin(), heads.end(), std::not_equal_to<>()) == heads.end();
  return agree && !heads.empty() ? std::to_string(heads.front())
                                 : fmt::format("{}", fmt::join(heads, ", "));
}

// Every row's value for the one requested input token, at the last top layer.
std::string one_column(const Attribution& result) {
  const std::vector<std::string> labels = token_labels(result.source.tokens);
  const int column = result.columns.front();
  std::string out;
  for (const std::string& note : result.notes) out += "# " + note + '\n';
  for (int r = 0; r < result.values.back().rows(); ++r)
    out += fmt::format("{}, input token {} '{}': {:.6f}\n", row_name(result, r), column,
                       labels.at(static_cast<size_t>(column)), result.values.back()(r, 0));
  if (!result.cut) return out;
  std::vector<std::vector<std::string>> lines = {
      {"layer", "output token", "input token", "weight"}};
  const auto name = [&](int token) {
    return fmt::format("{} {}", token, labels.at(static_cast<size_t>(token)));
  };
  for (const CutArc& arc : *result.cut)
    lines.push_back({std::to_string(arc.layer), name(arc.from), name(arc.to),
                     fmt::format("{:.6f}", arc.capacity)});
  return out + "\nlimited by these weights, which add up to it\n" +
         table(lines, {true, false, false, true});
}

}  // namespace

std::string terminal(const Attribution& result, int r, const Filter& filter, bool colour,
                     int width) {
  if (filter.any()) need_all_columns(result, "`filter`");
  if (!result.columns.empty()) return one_column(result);
  const ShownRow row(result, r, filter);
  const std::vector<std::string> notes = notes_of(result, filter, row.mass);
  std::string out;
  if (colour) {
    out += first_line(result, r) + "\n\n";
    out += has_overlay(result)
               ? patches_text(overlay_of(result, r, filter, result.source.name), width)
               : shaded(result, row, std::max(width, 20));
    out += '\n' + largest(result, row);
    if (result.has_signs) out += "  (" + sign_text(result) + ")\n";
    if (result.relevance) out += relevance_tables(result);
    for (const std::string& note : notes) out += "note: " + note + '\n';
    return out;
  }
  out += "# " + first_line(result, r) + '\n';
  for (const std::string& note : notes) out += "# " + note + '\n';
  if (result.has_signs) out += "# bars of # speak for the target, of - against it\n";
  out += table_of_row(result, row);
  return result.relevance ? out + relevance_tables(result) : out;
}

std::string terminal(const Comparison& result, int r, const Filter& filter) {
  if (result.panels.empty()) return "# no panels\n";
  const Attribution& first = result.panels.front();
  std::string out =
      fmt::format("# {}: {}\n", title_of(result), fmt::join(details_of(result, {}), ", "));
  out += agreement_table(result) + '\n';
  std::vector<ShownRow> rows;
  std::vector<std::vector<std::string>> lines = {{"index", "token"}};
  for (const Attribution& panel : result.panels) {
    rows.emplace_back(panel, r, filter);
    lines[0].push_back(shortened(harmless(panel.label), 24));
  }
  const std::vector<std::string> labels = token_labels(first.source.tokens);
  for (size_t j = 0; j < labels.size(); ++j) {
    if (!rows[0].kept[j]) continue;
    lines.push_back({std::to_string(j), labels[j]});
    for (const ShownRow& row : rows) lines.back().push_back(value_text(row.values[j]));
  }
  std::vector<bool> right(lines[0].size(), true);
  right[1] = false;
  out += "# " + row_name(first, r) + '\n';
  for (const std::string& note : notes_of(first, filter, rows[0].mass)) out += "# " + note + '\n';
  return out + table(lines, right);
}

std::string terminal(const Metrics& result) {
  std::string out = fmt::format("# metrics of {}, attention of layer {}, rollout of layers {}:{}\n",
                                harmless(result.source.name), result.layer, result.layers.begin,
                                result.layers.end);
  for (const std::string& note : result.notes) out += "# " + harmless(note) + '\n';
  return out + table({{"mean_attention", value_text(result.mean_attention)},
                      {"max_attention", value_text(result.max_attention)},
                      {"attention_entropy", value_text(result.attention_entropy)},
                      {"attention_concentration", value_text(result.attention_concentration)},
                      {"rollout_max", value_text(result.rollout_max)},
                      {"rollout_entropy", value_text(result.rollout_entropy)},
                      {"batch_size", std::to_string(result.batch_size)},
                      {"seq_length", std::to_string(result.seq_length)}},
                     {false, true});
}

namespace {

// A line for each token of a model: its index, its id, its bytes in the text.
std::string token_table(const Description& source, const std::vector<std::string>& labels) {
  std::vector<std::vector<std::string>> lines = {{"", "id", "bytes", "token"}};
  for (size_t t = 0; t < source.ids.size(); ++t) {
    std::string bytes;
    if (!source.places.empty() && source.places[t].text >= 0) {
      const TokenPlace& place = source.places[t];
      bytes = fmt::format("{}{}:{}", place.text > 0 ? "pair " : "", place.begin, place.end);
    }
    lines.push_back({std::to_string(t), std::to_string(source.ids[t]), bytes, labels[t]});
  }
  return "\n" + table(lines, {true, true, true, false});
}

}  // namespace

std::string terminal(const Info& result) {
  const Description& source = result.source;
  std::string tokens =
      source.tokens.empty() ? "no input given" : std::to_string(source.tokens.size());
  if (source.padded > static_cast<int>(source.tokens.size()))
    tokens += fmt::format(" (of {}, padded)", source.padded);
  const std::vector<std::string> labels = token_labels(source.tokens);
  std::vector<std::vector<std::string>> lines = {
      {"source", harmless(source.name)},     {"kind", harmless(source.kind)},
      {"reading", harmless(result.reading)}, {"layers", std::to_string(source.layers)},
      {"heads", heads_text(source.heads)},   {"tokens", tokens}};
  if (source.items > 1)
    lines.push_back({"item", fmt::format("{} of {}", source.item, source.items)});
  lines.push_back({"causal", result.causal ? "yes" : "no"});
  lines.push_back({"kernel", result.kernel});
  lines.push_back({"threads", std::to_string(result.threads)});
  if (!source.ids.empty()) return table(lines, {false, false}) + token_table(source, labels);
  if (!labels.empty())
    lines.push_back({"text", shortened(fmt::format("{}", fmt::join(labels, " ")), 200)});
  return table(lines, {false, false});
}

}  // namespace headwater
