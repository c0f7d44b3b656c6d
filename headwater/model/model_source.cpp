#include "headwater/model/model_source.h"

#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/blank.h"
#include "headwater/model/classifier.h"
#include "headwater/model/head_map.h"
#include "headwater/model/map_rows.h"
#include "headwater/model/predict.h"
#include "headwater/source/mask.h"

namespace headwater {
namespace {

Matrix copy_of(MatrixView view) {
  Matrix copy(view.rows(), view.columns());
  for (int t = 0; t < view.rows(); ++t) std::ranges::copy(view.row(t), copy.row(t).begin());
  return copy;
}

// A map of up to this many numbers is a single block of rows.
constexpr int64_t block_numbers = int64_t{1} << 20;

int block_of(int64_t n) {
  if (n * n <= block_numbers) return static_cast<int>(n);
  return static_cast<int>(std::max<int64_t>(16, block_numbers / n / 16 * 16));
}

}  // namespace

ModelSource::ModelSource(std::shared_ptr<const Model> model, Description description, Input input,
                         std::vector<std::string> notes, std::shared_ptr<const OutputHead> head,
                         std::shared_ptr<Pack> pack, size_t place)
    : owned_(std::move(model)),
      model_(*owned_),
      description_(std::move(description)),
      input_(std::move(input)),
      notes_(std::move(notes)),
      head_(std::move(head)),
      pack_(std::move(pack)),
      place_(place) {}

const OutputHead& ModelSource::head() const { return head_ ? *head_ : model_.classifier(); }

std::vector<std::string> ModelSource::notes() const {
  std::vector<std::string> all = model_.architecture().notes;
  all.insert(all.end(), notes_.begin(), notes_.end());
  if (passed_scores_ && !model_.architecture().distance_bias.table.empty())
    all.push_back(
        "the position bias of attention scores is a constant, and is not counted among the biases");
  return all;
}

void ModelSource::remember(const std::function<MatrixView(Range rows)>& hidden) {
  if (deciding_.rows() > 0) return;
  const std::optional<Range> rows = deciding_rows(model_, description_);
  if (!rows) return;
  const MatrixView found = hidden(*rows);
  if (found.rows() == 0) return;
  deciding_ = Matrix(found.rows(), found.columns());
  model_.finish(found, deciding_);
}

void ModelSource::remember(MatrixView hidden) {
  remember([&](Range rows) { return hidden.rows(rows.begin, rows.size()); });
}

std::optional<Prediction> ModelSource::prediction() {
  const std::optional<Range> rows = deciding_rows(model_, description_);
  if (!rows) return {};
  if (deciding_.rows() == 0) run_to_the_end([this](MatrixView hidden) { remember(hidden); });
  return predict(model_, *rows, deciding_);
}

std::optional<Prediction> ModelSource::prediction_at(int row) {
  if (!is_for_each_token(model_)) return prediction();
  const std::optional<Range> decide = deciding_rows(model_, description_);
  const bool decides = decide && row >= decide->begin && row < decide->end;
  // A single row decides, and it may be known already.
  if (decides && decide->size() == 1) return prediction();
  const Range rows = {row, row + 1};
  Matrix finished;
  if (decides && deciding_.rows() > 0) {
    finished = copy_of(MatrixView(deciding_).rows(row - decide->begin, 1));
  } else {
    run_to_the_end([&](MatrixView hidden) {
      remember(hidden);
      finished = Matrix(1, hidden.columns());
      model_.finish(hidden.rows(row, 1), finished);
    });
  }
  Prediction said = predict(model_, rows, finished);
  if (said.what == "next word") said.what = "next word after a token";
  if (said.what == "masked word" &&
      !is_mask_token(description_.tokens.at(static_cast<size_t>(row))))
    said.what = "word of a token";
  return said;
}

void ModelSource::run_to_the_end(const std::function<void(MatrixView hidden)>& take) const {
  if (pack_)
    if (const MatrixView hidden =
            pack_->hidden(place_, {0, static_cast<int>(description_.tokens.size())});
        hidden.rows() > 0)
      return take(hidden);
  const int layers = model_.architecture().layers;
  run_checked(model_, embed(), layers, [&](Forward& forward) {
    forward.step();
    if (forward.next() == layers) take(forward.hidden());
  });
}

ModelSource::~ModelSource() {
  if (pack_) pack_->let_go(place_);
}

Matrix ModelSource::embed() const { return enter(input_rows()); }

Matrix ModelSource::input_rows() const {
  if (const auto* text = std::get_if<TextInput>(&input_)) return model_.text().sums(*text, 0);
  if (const auto* pixels = std::get_if<Pixels>(&input_)) return model_.image().sums(*pixels);
  return std::get<std::function<Matrix()>>(input_)();
}

Matrix ModelSource::embed_without(std::span<const int> tokens) const {
  if (const auto* text = std::get_if<TextInput>(&input_))
    return model_.embed(blanked(*text, blank_token(model_), tokens));
  if (const auto* pixels = std::get_if<Pixels>(&input_))
    return model_.embed(blanked(model_, *pixels, tokens));
  fail("{}: was given rows of its own, expected a text or an image to blank out; give one",
       model_.name());
}

Matrix ModelSource::tokens() const {
  if (const auto* text = std::get_if<TextInput>(&input_)) return model_.tokens(*text);
  if (const auto* pixels = std::get_if<Pixels>(&input_)) return model_.tokens(*pixels);
  return embed();
}

Matrix ModelSource::enter(Matrix rows) const {
  if (std::holds_alternative<TextInput>(input_)) return model_.text().embed(std::move(rows));
  if (std::holds_alternative<Pixels>(input_)) return model_.image().embed(std::move(rows));
  return rows;
}

Matrix ModelSource::leave(MatrixView rows, Propagation& how, MatrixView gradient) const {
  if (std::holds_alternative<TextInput>(input_)) return model_.text().backward(rows, how, gradient);
  if (std::holds_alternative<Pixels>(input_)) return model_.image().backward(rows, how, gradient);
  return copy_of(gradient);
}

void ModelSource::keep(int end) {
  if (static_cast<int>(kept_.size()) >= end) return;
  kept_.clear();
  run_checked(model_, embed(), end, [&](Forward& forward) {
    forward.step();
    kept_.push_back({copy_of(forward.queries()), copy_of(forward.keys())});
    if (forward.next() == model_.architecture().layers) remember(forward.hidden());
  });
}

// Rows of a layer's map, from row `first` on, from the kept queries and keys.
void ModelSource::attend(const Fuse& fuse, int layer, int first, MatrixSpan rows) const {
  const Kept& kept = kept_[static_cast<size_t>(layer)];
  put_map_rows(model_, layer, kept.queries, kept.keys, fuse, first, rows);
}

void ModelSource::layers(Fuse fuse, Range range, Direction direction, const Visit& visit) {
  const int n = static_cast<int>(description_.tokens.size()), heads = model_.architecture().heads;
  Matrix map(n, n);
  const auto fused = [&](int layer) { return head_map(fuse, heads, layer, model_.name(), map); };
  fused(range.begin);  // fails early if the head does not exist
  if (pack_ && pack_->has_maps(place_, {fuse, range, false})) {
    for (int k = 0; k < range.size(); ++k) {
      const int layer = direction == Direction::up ? range.begin + k : range.end - 1 - k;
      copy(pack_->map(place_, layer), map);
      visit(layer, map);
    }
    return;
  }
  const bool known = static_cast<int>(kept_.size()) >= range.end;
  if (direction == Direction::up && !known && !visited_) {
    visited_ = true;
    run_checked(model_, embed(), range.end, [&](Forward& forward) {
      const int layer = forward.next();
      const bool wanted = layer >= range.begin;
      forward.step(wanted ? fused(layer) : kernel::HeadMap());
      if (forward.next() == model_.architecture().layers) remember(forward.hidden());
      if (wanted) visit(layer, map);
    });
    return;
  }
  keep(range.end);
  for (int k = 0; k < range.size(); ++k) {
    const int layer = direction == Direction::up ? range.begin + k : range.end - 1 - k;
    attend(fuse, layer, 0, map);
    visit(layer, map);
  }
}

void ModelSource::rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) {
  const int n = static_cast<int>(description_.tokens.size()), block = block_of(n);
  head_map(fuse, model_.architecture().heads, range.begin, model_.name(), {});
  if (pack_ && pack_->has_maps(place_, {fuse, range, true}))
    return packed_rows(fuse, range, direction, visitor);
  keep(range.end);
  Matrix rows(block, n);
  for (int k = 0; k < range.size(); ++k) {
    const int layer = direction == Direction::up ? range.begin + k : range.end - 1 - k;
    for (int first = 0; first < n; first += block) {
      const int count = std::min(block, n - first);
      if (!visitor.wants(layer, first, count)) continue;
      const MatrixSpan some = MatrixSpan(rows).rows(0, count);
      attend(fuse, layer, first, some);
      visitor.take(layer, first, some);
    }
  }
}

// The pack has the maps of all layers but the highest, and that one's queries and keys.
void ModelSource::packed_rows(const Fuse& fuse, Range range, Direction direction,
                              RowVisitor& visitor) {
  const int n = static_cast<int>(description_.tokens.size());
  Matrix map(n, n);
  for (int k = 0; k < range.size(); ++k) {
    const int layer = direction == Direction::up ? range.begin + k : range.end - 1 - k;
    if (layer < range.end - 1) {
      if (!visitor.wants(layer, 0, n)) continue;
      copy(pack_->map(place_, layer), map);
      visitor.take(layer, 0, map);
      continue;
    }
    for (int first = 0, end = 0; first < n; first = end + 1) {
      for (end = first; end < n && visitor.wants(layer, end, 1);) ++end;
      if (end == first) continue;
      const MatrixSpan rows = MatrixSpan(map).rows(0, end - first);
      pack_->put_top_rows(place_, fuse, first, rows);
      visitor.take(layer, first, rows);
    }
  }
}

}  // namespace headwater
