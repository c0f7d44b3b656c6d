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
#include "headwater/output/terminal/isolate.h"
#include "headwater/output/terminal/patches.h"
#include "headwater/output/terminal/relevance.h"
#include "headwater/output/terminal/shown_row.h"
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

std::vector<std::string> notes_of(const Attribution& result, const Filter& filter, double mass) {
  std::vector<std::string> out;
  if (result.prediction)
    out.push_back("the model says: " + prediction_text(*result.prediction, result.source));
  for (const std::string& note : result.notes) out.push_back(harmless(note));
  if (filter.any())
    out.push_back(fmt::format("the filter left out {:.1f} % of this row{}", 100 * mass,
                              filter.renormalise ? "; the rest is divided by its sum" : ""));
  return out;
}

// The prediction has a line of its own.
std::vector<std::string> without_prediction(std::vector<std::string> details,
                                            const Attribution& result) {
  if (result.prediction) std::erase(details, prediction_text(*result.prediction, result.source));
  return details;
}

// A note that not all panels have says which ones it is about.
std::vector<std::string> notes_of_panels(const Comparison& result, const Filter& filter,
                                         const std::vector<ShownRow>& rows) {
  std::vector<std::string> notes;
  std::vector<std::vector<std::string>> owners;
  for (size_t k = 0; k < result.panels.size(); ++k)
    for (const std::string& note : notes_of(result.panels[k], filter, rows[k].mass)) {
      const auto found = std::ranges::find(notes, note);
      const size_t place = static_cast<size_t>(found - notes.begin());
      if (found == notes.end()) {
        notes.push_back(note);
        owners.emplace_back();
      }
      owners[place].push_back(harmless(result.panels[k].label));
    }
  for (size_t k = 0; k < notes.size(); ++k)
    if (owners[k].size() < result.panels.size())
      notes[k] = fmt::format("{}: {}", fmt::join(owners[k], ", "), notes[k]);
  return notes;
}

std::string first_line(const Attribution& result, int r) {
  return fmt::format("{}, {}: {}", title_of(result), isolated(row_name(result, r)),
                     fmt::join(without_prediction(details_of(result, {}), result), ", "));
}

std::string shaded(const Attribution& result, const ShownRow& row, int width) {
  const std::vector<Piece> pieces = running_text(result.source.tokens, std::max(8, width / 2));
  std::vector<bool> kept = row.kept;
  const std::vector<float> values = piece_values(pieces, row.values, kept);
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
    if (kept[j] && !pieces[j].text.empty())
      out += background(row.shade(values[j])) + pieces[j].text + "\x1b[0m";
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
      out += fmt::format("  {:>9}  {} {} \x1b[0m  {}\n", number_text(row.values[k]),
                         background(row.shade(row.values[k])), isolated(labels[k]), j);
    }
  };
  list(row.values);
  if (row.has_signs) {
    Vector against;
    for (const float value : row.values) against.push_back(-value);
    list(against);
  }
  if (row.top > row.full) out += fmt::format("  (shaded up to {})\n", number_text(row.full));
  return out;
}

std::string table_of_row(const Attribution& result, const ShownRow& row) {
  const std::vector<std::string> labels = token_labels(result.source.tokens);
  std::vector<std::vector<std::string>> lines = {{"index", "token", "value", ""}};
  for (size_t j = 0; j < labels.size(); ++j) {
    if (!row.kept[j]) continue;
    const double share = row.top > 0 ? std::abs(row.values[j]) / row.top : 0;
    lines.push_back(
        {std::to_string(j), labels[j], number_text(row.values[j]),
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
    out += fmt::format("{}, input token {} '{}': {}\n", isolated(row_name(result, r)), column,
                       isolated(labels.at(static_cast<size_t>(column))),
                       number_text(result.values.back()(r, 0)));
  if (!result.cut) return out;
  std::vector<std::vector<std::string>> lines = {
      {"layer", "output token", "input token", "weight"}};
  const auto name = [&](int token) {
    return fmt::format("{} {}", token, labels.at(static_cast<size_t>(token)));
  };
  for (const CutArc& arc : *result.cut)
    lines.push_back(
        {std::to_string(arc.layer), name(arc.from), name(arc.to), number_text(arc.capacity)});
  return out + "\nThe flow is limited by these weights; they sum to it:\n" +
         table(lines, {true, false, false, true});
}

}  // namespace

std::string terminal(const Attribution& result, int r, const Filter& filter, bool colour,
                     int width) {
  if (filter.any()) need_all_columns(result, "`filter`");
  if (!result.columns.empty()) return one_column(result);
  const ShownRow row(result, values_to_show(result), r, filter);
  const bool by_layer = !result.by_layer.empty() && !result.relevance;
  const std::vector<std::string> notes = notes_of(result, filter, row.mass);
  std::string out;
  if (colour) {
    out += first_line(result, r) + "\n\n";
    if (has_overlay(result))
      out += patches_text(overlay_of(result, r, filter, result.source.name), width);
    else if (by_layer)
      out += layers_table(result, r, filter, true, std::max(width, 20));
    else
      out += shaded(result, row, std::max(width, 20));
    if (by_layer) out += '\n' + layer_name(result, result.values.size() - 1) + ":\n";
    out += (by_layer ? "" : "\n") + largest(result, row);
    if (result.has_signs) out += "  (" + sign_text(result) + ")\n";
    if (result.relevance) out += relevance_tables(result);
    for (const std::string& note : notes) out += "note: " + note + '\n';
    return out;
  }
  out += "# " + first_line(result, r) + '\n';
  for (const std::string& note : notes) out += "# " + note + '\n';
  if (result.has_signs) out += "# bars of # speak for the target, of - against it\n";
  out += by_layer ? layers_table(result, r, filter, false, width) : table_of_row(result, row);
  return result.relevance ? out + relevance_tables(result) : out;
}

namespace {

// For each head, the token that it attends to most: layers down, heads across.
std::string heads_table(const Comparison& result, int r, const Filter& filter) {
  const std::vector<std::string> labels = token_labels(result.panels.front().source.tokens, 12);
  std::vector<std::vector<std::string>> lines = {{"layer"}};
  for (const Attribution& panel : result.panels) {
    const std::string layer = std::to_string(panel.layers.begin);
    if (lines.back()[0] != layer) lines.push_back({layer});
    const ShownRow row(panel, values_to_show(panel), r, filter);
    const std::vector<int> most = top(row.values, 1, row.kept);
    lines.back().push_back(most.empty()
                               ? ""
                               : fmt::format("{} {:.2f}", labels[static_cast<size_t>(most[0])],
                                             row.values[static_cast<size_t>(most[0])]));
    if (lines[0].size() < lines.back().size())
      lines[0].push_back(fmt::format("head {}", lines.back().size() - 2));
  }
  std::vector<bool> right(lines[0].size(), false);
  right[0] = true;
  return table(lines, right);
}

}  // namespace

std::string terminal(const Comparison& result, int r, const Filter& filter) {
  if (result.panels.empty()) return "# no panels\n";
  const Attribution& first = result.panels.front();
  if (result.by == "head") {
    const ShownRow row(first, values_to_show(first), r, filter);
    std::string out =
        fmt::format("# {}, {}: {}\n", title_of(result), row_name(first, r),
                    fmt::join(without_prediction(details_of(result, {}), first), ", "));
    for (const std::string& note : notes_of(first, filter, row.mass)) out += "# " + note + '\n';
    return out + heads_table(result, r, filter);
  }
  std::string out = fmt::format("# {}: {}\n", title_of(result),
                                fmt::join(without_prediction(details_of(result, {}), first), ", "));
  out += agreement_table(result) + '\n';
  std::vector<ShownRow> rows;
  std::vector<std::vector<std::string>> lines = {{"index", "token"}};
  for (const Attribution& panel : result.panels) {
    rows.emplace_back(panel, values_to_show(panel), r, filter);
    lines[0].push_back(shortened(harmless(panel.label), 24));
  }
  const std::vector<std::string> labels = token_labels(first.source.tokens);
  for (size_t j = 0; j < labels.size(); ++j) {
    if (!rows[0].kept[j]) continue;
    lines.push_back({std::to_string(j), labels[j]});
    for (const ShownRow& row : rows) lines.back().push_back(number_text(row.values[j]));
  }
  std::vector<bool> right(lines[0].size(), true);
  right[1] = false;
  out += "# " + isolated(row_name(first, r)) + '\n';
  for (const std::string& note : notes_of_panels(result, filter, rows)) out += "# " + note + '\n';
  return out + table(lines, right);
}

std::string terminal(const Metrics& result) {
  std::string out = fmt::format("# metrics of {}, attention of layer {}, rollout of layers {}:{}\n",
                                harmless(result.source.name), result.layer, result.layers.begin,
                                result.layers.end);
  if (result.prediction)
    out += "# the model says: " + prediction_text(*result.prediction, result.source) + '\n';
  constexpr size_t most_said = 8;
  for (size_t k = 0; k < std::min(most_said, result.predictions.size()); ++k)
    out += fmt::format("# for item {} the model says: {}\n", k,
                       prediction_text(result.predictions[k], result.source));
  if (result.predictions.size() > most_said)
    out += fmt::format("# predictions for {} more items are in .json\n",
                       result.predictions.size() - most_said);
  for (const std::string& note : result.notes) out += "# " + harmless(note) + '\n';
  return out + table({{"mean_attention", number_text(result.mean_attention)},
                      {"max_attention", number_text(result.max_attention)},
                      {"attention_entropy", number_text(result.attention_entropy)},
                      {"attention_concentration", number_text(result.attention_concentration)},
                      {"rollout_max", number_text(result.rollout_max)},
                      {"rollout_entropy", number_text(result.rollout_entropy)},
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

void add_model(const ModelFacts& model, std::vector<std::vector<std::string>>& lines) {
  const auto add = [&](const char* name, std::string text) {
    lines.push_back({name, std::move(text)});
  };
  if (model.head.empty())
    add("head", "none");
  else
    add("head", fmt::format("{}, {} outputs", model.head, model.outputs));
  if (!model.classes.empty())
    add("classes", shortened(harmless(fmt::format("{}", fmt::join(model.classes, ", "))), 200));
  if (model.positions) add("positions", std::to_string(*model.positions));
  if (!model.windows.empty()) {
    const auto widest = std::ranges::max(model.windows);
    const auto count = std::ranges::count_if(model.windows, [](int size) { return size > 0; });
    if (count > 0) add("window", fmt::format("{} tokens, in {} layers", widest, count));
  }
  add("parameters", fmt::format("{}, {}", model.parameters, model.types));
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
  if (result.model) add_model(*result.model, lines);
  if (result.prediction)
    lines.push_back({"says", prediction_text(*result.prediction, result.source)});
  for (const std::string& note : result.notes) lines.push_back({"note", harmless(note)});
  lines.push_back({"kernel", result.kernel});
  lines.push_back({"threads", std::to_string(result.threads)});
  if (!source.ids.empty()) return table(lines, {false, false}) + token_table(source, labels);
  if (!labels.empty())
    lines.push_back({"text", shortened(fmt::format("{}", fmt::join(labels, " ")), 200)});
  return table(lines, {false, false});
}

}  // namespace headwater
