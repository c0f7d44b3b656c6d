#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/core/display_width.h"
#include "headwater/output/terminal/isolate.h"
#include "headwater/output/terminal/shown_row.h"
#include "headwater/output/terminal/table.h"
#include "headwater/result/token_text.h"

namespace headwater {
namespace {

constexpr int cell_columns = 3;
constexpr int longest_label = 16;

std::string short_name(int layer) { return layer < 0 ? "in" : std::to_string(layer); }

// Every k-th layer up to the last, which is always there.
std::vector<size_t> fitting_layers(size_t count, size_t room) {
  const size_t step = (count + room - 1) / room;
  std::vector<size_t> out;
  for (size_t k = (count - 1) % step; k < count; k += step) out.push_back(k);
  return out;
}

std::string shaded_table(const Attribution& result, std::vector<ShownRow> rows, int width) {
  const std::vector<std::string> labels = token_labels(result.source.tokens, longest_label);
  int widest = 0;
  double full = 0;
  for (size_t j = 0; j < labels.size(); ++j)
    if (rows[0].kept[j]) widest = std::max(widest, display_width(labels[j]));
  for (const ShownRow& row : rows) full = std::max(full, row.full);
  for (ShownRow& row : rows) row.full = full;
  const int room = std::max(1, (width - widest - 2) / cell_columns);
  const std::vector<size_t> layers = fitting_layers(rows.size(), static_cast<size_t>(room));
  std::string out = padded("layer", widest) + "  ";
  for (const size_t k : layers) out += padded(short_name(result.by_layer[k]), cell_columns, true);
  out += '\n';
  for (size_t j = 0; j < labels.size(); ++j) {
    if (!rows[0].kept[j]) continue;
    out += isolated(labels[j]) + padded(labels[j], widest).substr(labels[j].size()) + "  ";
    for (const size_t k : layers)
      out += background(rows[k].shade(rows[k].values[j])) + std::string(cell_columns, ' ');
    out += "\x1b[0m\n";
  }
  out += fmt::format("  (shaded up to {})\n", number_text(full));
  if (layers.size() < rows.size())
    out +=
        fmt::format("  ({} of {} layers fit; a .json file has all)\n", layers.size(), rows.size());
  return out;
}

}  // namespace

std::string layers_table(const Attribution& result, int r, const Filter& filter, bool colour,
                         int width) {
  std::vector<ShownRow> rows;
  for (const Matrix& values : result.values) rows.emplace_back(result, values, r, filter);
  if (colour) return shaded_table(result, std::move(rows), width);
  const std::vector<std::string> labels = token_labels(result.source.tokens);
  std::vector<std::vector<std::string>> lines = {{"index", "token"}};
  for (const int layer : result.by_layer)
    lines[0].push_back(layer < 0 ? "input" : fmt::format("layer {}", layer));
  for (size_t j = 0; j < labels.size(); ++j) {
    if (!rows[0].kept[j]) continue;
    lines.push_back({std::to_string(j), labels[j]});
    for (const ShownRow& row : rows) lines.back().push_back(number_text(row.values[j]));
  }
  std::vector<bool> right(lines[0].size(), true);
  right[1] = false;
  return table(lines, right);
}

}  // namespace headwater
