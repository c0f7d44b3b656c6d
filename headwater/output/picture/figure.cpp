#include "headwater/output/picture/figure.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "headwater/core/fail.h"
#include "headwater/output/caption.h"
#include "headwater/output/picture/figure_curves.h"
#include "headwater/output/picture/figure_overlay.h"
#include "headwater/output/picture/figure_scale.h"
#include "headwater/output/shade.h"
#include "headwater/result/columns.h"
#include "headwater/result/left_out.h"
#include "headwater/result/row_to_show.h"
#include "headwater/result/token_class.h"

namespace headwater {
namespace {

constexpr int most_bars = 64;    // with more, a bar chart is taller than a page
constexpr int most_text = 2500;  // longer running text is a wall: show cells in lines instead
constexpr int longest_axis_label = 20;

// What to show of a result: which columns, with which names, and each row of values after the
// filter.
class Shown {
 public:
  Shown(const Attribution& result, const Filter& filter, const std::string& path)
      : kept_(kept(filter, result.source.tokens)),
        renormalise_(filter.any() && filter.renormalise && !result.has_signs) {
    for (size_t j = 0; j < kept_.size(); ++j)
      if (kept_[j]) columns_.push_back(static_cast<int>(j));
    if (columns_.empty())
      fail("{}: the filter leaves none of {} tokens, expected at least one; filter less", path,
           kept_.size());
  }

  const std::vector<int>& columns() const { return columns_; }
  const std::vector<bool>& kept_tokens() const { return kept_; }

  std::span<const float> row(const Matrix& values, int i) {
    if (!renormalise_) return values.row(i);
    room_.resize(static_cast<size_t>(values.columns()));
    renormalise(values.row(i), kept_, room_);
    return room_;
  }

  /// Raises each cell of a line to the largest value (or that of the largest size) of the columns
  /// that it covers.
  void raise(const Matrix& values, int i, int bin, std::span<float> cells) {
    const std::span<const float> from = row(values, i);
    for (size_t c = 0; c < columns_.size(); ++c) {
      float& cell = cells[c / static_cast<size_t>(bin)];
      const float value = from[static_cast<size_t>(columns_[c])];
      if (std::isfinite(value) && std::abs(value) > std::abs(cell)) cell = value;
    }
  }

 private:
  std::vector<bool> kept_;
  bool renormalise_;
  std::vector<int> columns_;
  Vector room_;
};

int bins(int count, int bin) { return (count + bin - 1) / bin; }

Axis token_axis(std::string title, const std::vector<std::string>& labels,
                const std::vector<int>& tokens, int bin) {
  Axis axis{std::move(title), {}, tokens, bin};
  for (const int j : tokens) axis.labels.push_back(labels[static_cast<size_t>(j)]);
  return axis;
}

Axis row_axis(const Attribution& result, int bin) {
  if (result.mean_row) return {"Output tokens", {"mean"}, {0}, 1};
  const bool generated = !result.outputs.empty();
  return token_axis(generated ? "Generated tokens" : "Output tokens",
                    output_labels(result, longest_axis_label), result.rows, bin);
}

Axis input_axis(const Attribution& result, const Shown& shown, int bin) {
  const char* title = result.outputs.empty() ? "Input tokens"
                      : result.has_signs     ? "Prompt and generated tokens"
                                             : "Prompt tokens";
  Axis axis = token_axis(title, token_labels(result.source.tokens, longest_axis_label),
                         shown.columns(), bin);
  for (const int j : axis.places)
    axis.special.push_back(is_special(result.source.tokens[static_cast<size_t>(j)]));
  return axis;
}

// Signed values have as much below 0 as above.
void set_signs(Figure& figure, const Attribution& result) {
  figure.has_signs = result.has_signs;
  if (result.has_signs) figure.details.push_back(sign_text(result));
}

// All rows of each matrix, with a panel for each matrix.
Grid grid_of_matrices(const std::vector<const Matrix*>& matrices,
                      const std::vector<std::string>& titles, const Attribution& like,
                      Shown& shown) {
  const int rows = matrices.front()->rows(), columns = static_cast<int>(shown.columns().size());
  const int bin = bins(std::max(rows, columns), plot_pixels(static_cast<int>(matrices.size())));
  Grid grid{input_axis(like, shown, bin), row_axis(like, bin), {}, true};
  for (size_t k = 0; k < matrices.size(); ++k) {
    Matrix cells(bins(rows, bin), bins(columns, bin));
    for (int i = 0; i < rows; ++i) shown.raise(*matrices[k], i, bin, cells.row(i / bin));
    grid.panels.push_back({titles[k], std::move(cells)});
  }
  return grid;
}

// Row 0 of each matrix, one below the other.
Grid grid_of_rows(const std::vector<const Matrix*>& matrices, Axis y, const Attribution& like,
                  Shown& shown) {
  const int lines = static_cast<int>(matrices.size()),
            columns = static_cast<int>(shown.columns().size());
  const int bin = bins(columns, plot_pixels(1));
  y.bin = bins(lines, plot_pixels(1) / 2);
  Grid grid{input_axis(like, shown, bin), std::move(y), {}, false};
  Matrix cells(bins(lines, grid.y.bin), bins(columns, bin));
  for (int k = 0; k < lines; ++k)
    shown.raise(*matrices[static_cast<size_t>(k)], 0, bin, cells.row(k / grid.y.bin));
  grid.panels.push_back({"", std::move(cells)});
  return grid;
}

// One row that is too long to read as text: cells in lines, numbered at the start.
Grid grid_of_lines(const Attribution& result, Shown& shown) {
  const int count = static_cast<int>(shown.columns().size());
  const int wide = std::max(64, static_cast<int>(std::ceil(std::sqrt(count / 16.0))) * 8);
  const int lines = bins(count, wide);
  Grid grid;
  grid.square = false;
  grid.x.title = "Input tokens, in lines from left to right";
  for (int c = 0; c < wide; ++c) {
    grid.x.labels.push_back(fmt::format("+{}", c));
    grid.x.places.push_back(c);
  }
  grid.y.title = "First token of the line";
  grid.y.bin = bins(lines, plot_pixels(1));
  for (int line = 0; line < lines; ++line) {
    const int place = shown.columns()[static_cast<size_t>(line * wide)];
    grid.y.labels.push_back(std::to_string(place));
    grid.y.places.push_back(place);
  }
  grid.x.bin = bins(wide, plot_pixels(1));
  Matrix cells(bins(lines, grid.y.bin), bins(wide, grid.x.bin));
  const std::span<const float> row = shown.row(values_to_show(result), 0);
  for (int c = 0; c < count; ++c) {
    const float value = row[static_cast<size_t>(shown.columns()[static_cast<size_t>(c)])];
    float& cell = cells(c / wide / grid.y.bin, c % wide / grid.x.bin);
    if (std::isfinite(value) && std::abs(value) > std::abs(cell)) cell = value;
  }
  grid.panels.push_back({"", std::move(cells)});
  return grid;
}

Strip strip_of(const Attribution& result, Shown& shown) {
  Strip strip;
  strip.pieces = running_text(result.source.tokens);
  strip.labels = token_labels(result.source.tokens);
  strip.kept = shown.kept_tokens();
  for (const float value : shown.row(values_to_show(result), 0)) {
    const float known = std::isfinite(value) ? value : 0.0f;
    strip.values.push_back(result.has_signs ? known : std::max(known, 0.0f));
  }
  strip.text_kept = strip.kept;
  strip.text_values = piece_values(strip.pieces, strip.values, strip.text_kept);
  if (!result.mean_row && !result.rows.empty() && result.outputs.empty())
    strip.output = result.rows.front();
  while (strip.output > 0 && strip.pieces[static_cast<size_t>(strip.output)].parts == 0)
    --strip.output;
  strip.bars = shown.columns().size() <= most_bars;
  return strip;
}

std::string caption_of(const Attribution& result) {
  if (result.method == "flow") return "Flow";
  if (result.has_signs) return "Relevance";
  return result.method == "raw" || result.method == "average" ? "Attention" : "Attribution";
}

// One scale for all panels.
void set_overlay_scale(Figure& figure, Overlay overlay) {
  Vector values;
  for (const OverlayPanel& panel : overlay.panels)
    values.insert(values.end(), panel.values.data(), panel.values.data() + panel.values.size());
  double most = 0;
  for (const float value : values)
    if (std::isfinite(value)) most = std::max<double>(most, std::abs(value));
  const ScaleEnds scale = patch_scale(values, overlay.has_signs);
  set_top(figure, scale.top, most);
  figure.bottom = scale.bottom;
  figure.body = std::move(overlay);
}

Figure overlay_figure(const Attribution& result, const Filter& filter, const std::string& path) {
  const int r = row_to_show(result);
  Figure out{title_of(result), details_of(result, filter), caption_of(result), 1, false, {}, 0};
  out.details.push_back(row_name(result, r));
  set_signs(out, result);
  set_overlay_scale(out, overlay_of(result, r, filter, path));
  return out;
}

// The shares of heads, layers x heads.
Figure heads_figure(const Attribution& result) {
  const Matrix& heads = result.relevance->heads;
  Figure out{title_of(result) + " by head", details_of(result, {}), "Relevance", 1, false, {}, 0};
  set_signs(out, result);
  const auto numbers = [](const char* title, int count) {
    Axis axis{title, {}, {}, 1};
    for (int k = 0; k < count; ++k) {
      axis.labels.push_back(std::to_string(k));
      axis.places.push_back(k);
    }
    return axis;
  };
  Grid grid{numbers("Heads", heads.columns()), numbers("Layers", heads.rows()), {}, true};
  grid.panels.push_back({"", heads.copy()});
  out.body = std::move(grid);
  set_scale(out);
  return out;
}

// One layer's edges, output tokens x input tokens.
Figure edges_figure(const Attribution& result, const Filter& filter, const std::string& path) {
  Attribution like;  // what the axes need: all tokens on both sides
  like.source = result.source;
  like.has_signs = true;
  like.rows.resize(result.source.tokens.size());
  std::iota(like.rows.begin(), like.rows.end(), 0);
  Shown shown(like, filter, path);
  Figure out{fmt::format("{}: edges of layer {}", title_of(result), *result.relevance->layer),
             details_of(result, filter),
             "Relevance",
             1,
             false,
             {},
             0};
  set_signs(out, result);
  out.body = grid_of_matrices({&result.relevance->edges}, {""}, like, shown);
  set_scale(out);
  return out;
}

Figure overlay_figure(const Comparison& result, const Filter& filter, const std::string& path) {
  const int r = row_to_show(result.panels.back());
  Figure out{title_of(result), details_of(result, filter), "Attribution", 1, false, {}, 0};
  out.details.push_back(row_name(result.panels.front(), r));
  set_overlay_scale(out, overlay_of(result, r, filter, path));
  return out;
}

Figure figure(const Attribution& result, const Filter& filter, const std::string& path) {
  need_all_columns(result, path);
  if (result.relevance) {
    const bool heads = result.relevance->heads.rows() > 0,
               edges = result.relevance->layer.has_value();
    if (heads + edges + !result.by_layer.empty() > 1)
      fail_usage(
          "{}: a picture shows one of `by_layer`, `heads` and `edges`, expected one of them; leave "
          "the others out, or use .json",
          path);
    if (heads) return heads_figure(result);
    if (edges) return edges_figure(result, filter, path);
  }
  if (has_overlay(result)) return overlay_figure(result, filter, path);
  Shown shown(result, filter, path);
  Figure out{title_of(result), details_of(result, filter), caption_of(result), 1, false, {}, 0};
  std::vector<const Matrix*> matrices;
  std::vector<std::string> titles;
  for (size_t k = 0; k < result.values.size(); ++k) {
    matrices.push_back(&result.values[k]);
    titles.push_back(result.by_layer.empty() ? "" : layer_name(result, k));
  }
  const bool one_row = matrices.front()->rows() == 1;
  if (one_row) out.details.push_back(row_name(result, 0));
  set_signs(out, result);
  if (!one_row) {
    out.body = grid_of_matrices(matrices, titles, result, shown);
  } else if (!result.by_layer.empty()) {
    Axis y{"Layers", {}, result.by_layer, 1};
    for (const int layer : result.by_layer)
      y.labels.push_back(layer < 0 ? "input" : std::to_string(layer));
    out.body = grid_of_rows(matrices, std::move(y), result, shown);
  } else if (shown.columns().size() > most_text) {
    out.body = grid_of_lines(result, shown);
  } else {
    Strip strip = strip_of(result, shown);
    double most = 0;
    for (size_t j = 0; j < strip.text_values.size(); ++j)
      if (strip.text_kept[j]) most = std::max<double>(most, std::abs(strip.text_values[j]));
    set_top(out, full_shade(strip.text_values, strip.text_kept), most);
    out.body = std::move(strip);
  }
  if (std::holds_alternative<Grid>(out.body)) set_scale(out);
  return out;
}

int heads_of_first_layer(const Comparison& result) {
  const int first = result.panels.front().layers.begin;
  return static_cast<int>(std::ranges::count_if(
      result.panels, [&](const Attribution& panel) { return panel.layers.begin == first; }));
}

Figure figure(const Comparison& result, const Filter& filter, const std::string& path) {
  if (result.panels.empty())
    fail("{}: the comparison has no panels, expected at least one; use .json", path);
  if (has_overlay(result)) return overlay_figure(result, filter, path);
  for (const Attribution& panel : result.panels) need_all_columns(panel, path);
  const Attribution& first = result.panels.front();
  Shown shown(first, filter, path);
  Figure out{title_of(result), details_of(result, filter), "Attribution", 1, false, {}, 0};
  std::vector<const Matrix*> matrices;
  std::vector<std::string> titles;
  for (const Attribution& panel : result.panels) {
    matrices.push_back(&panel.values.back());
    titles.push_back(source_text(panel.label));
    if (matrices.back()->rows() != matrices.front()->rows() ||
        panel.source.tokens.size() != first.source.tokens.size())
      fail("{}: panel '{}' differs in shape from the first, expected equal shapes; use .json", path,
           titles.back());
  }
  if (matrices.front()->rows() == 1) {
    out.details.push_back(row_name(first, 0));
    Axis y{"", titles, {}, 1};
    y.places.resize(titles.size());
    std::iota(y.places.begin(), y.places.end(), 0);
    out.body = grid_of_rows(matrices, std::move(y), first, shown);
  } else {
    out.body = grid_of_matrices(matrices, titles, first, shown);
    if (result.by == "head") {
      std::get<Grid>(out.body).columns = heads_of_first_layer(result);
      out.caption = "Attention";
    }
    // Different methods have different ranges.
    if ((result.by == "method" || result.by == "layer") && set_own_scales(out)) return out;
  }
  set_scale(out);
  return out;
}

Figure figure(const Generated& result, const Filter& filter, const std::string& path) {
  if (result.relevance.rows() > 0) {
    Figure out = figure(relevance_of(result, result.shown), filter, path);
    for (std::string& detail : relevance_details(result)) out.details.push_back(std::move(detail));
    return out;
  }
  if (result.values.empty())
    fail("{}: there is only text, expected attribution to draw; leave out `plain`", path);
  if (result.shown)
    return figure(of_token(result, *result.shown, !result.shown_by_layer), filter, path);
  return figure(at_layer(result), filter, path);
}

Figure figure(const Evaluation& result, const Filter&, const std::string&) {
  Figure out{"Agreement with a model's own importance", {}, "", 1, false, {}, 0};
  out.details = details_of(result);
  out.body = curves_of(result);
  return out;
}

Figure figure(const Metrics&, const Filter&, const std::string& path) {
  fail("{}: metrics are numbers, expected a result that can be drawn; use .json", path);
}

Figure figure(const Info&, const Filter&, const std::string& path) {
  fail("{}: info has no values, expected a result that can be drawn; use .json", path);
}

}  // namespace

int plot_pixels(int panels) {
  return panels == 1 ? 1600 : panels == 2 ? 900 : panels <= 16 ? 640 : 180;
}

Figure figure_of(ResultView result, const Filter& filter, const std::string& path) {
  Figure out = result.visit([&](const auto& one) { return figure(one, filter, path); });
  if (out.has_signs) out.bottom = -out.top;
  return out;
}

}  // namespace headwater
