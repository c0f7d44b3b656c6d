#include "headwater/model/embedding.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/position_grid.h"

namespace headwater {
namespace {

void add_row(const kernel::Weights& table, int row, std::span<float> out, Vector& scratch) {
  scratch.resize(out.size());
  copy_row(table, row, scratch);
  for (size_t d = 0; d < out.size(); ++d) out[d] += scratch[d];
}

}  // namespace

TextEmbedder::TextEmbedder(const Architecture& model, const Checkpoint& checkpoint,
                           const std::string& prefix)
    : model_(model), name_(checkpoint.name()) {
  const TextEmbedding& text = *model.text;
  words_ = checkpoint.matrix(prefix + text.words, text.vocabulary, text.size);
  if (!text.positions.empty())
    positions_ = checkpoint.matrix(prefix + text.positions, model.positions + text.first_position,
                                   text.size);
  if (!text.types.empty())
    types_ = checkpoint.matrix(prefix + text.types, text.type_count, text.size);
  if (!text.norm.empty()) norm_ = bind_norm(checkpoint, prefix + text.norm, model.norm, text.size);
  project_ = bind_linear(checkpoint, prefix, text.project, model.width, text.size);
}

Matrix TextEmbedder::embed(const TextInput& input, int first) const {
  const TextEmbedding& text = *model_.text;
  const int n = static_cast<int>(input.ids.size());
  if (model_.positions > 0 && n > model_.positions - first)
    fail(
        "{}: has {} tokens, expected at most {}, the positions of the model; --truncate cuts the "
        "input there",
        name_, first + n, model_.positions);
  Matrix rows(n, text.size);
  Vector scratch;
  int position = text.first_position + first;
  for (int t = 0; t < n; ++t) {
    const int id = input.ids[static_cast<size_t>(t)];
    if (id < 0 || id >= text.vocabulary)
      fail("{}: token {} has id {}, expected 0 to {}, the vocabulary of the model; check the ids",
           name_, t, id, text.vocabulary - 1);
    copy_row(words_, id, rows.row(t));
    if (types_.outputs > 0) {
      int type = input.types.empty() ? 0 : input.types[static_cast<size_t>(t)];
      // Tokenizers of models that know one type only may still count the second text's as 1.
      if (text.type_count == 1) type = 0;
      if (type < 0 || type >= text.type_count)
        fail("{}: token {} has type {}, expected 0 to {}; give one text instead of a pair", name_,
             t, type, text.type_count - 1);
      add_row(types_, type, rows.row(t), scratch);
    }
    if (positions_.outputs > 0)
      add_row(positions_, id == text.padding ? *text.padding : position++, rows.row(t), scratch);
  }
  if (!norm_.weight.empty()) {
    if (model_.norm == Architecture::Norm::layer)
      kernel::layer_norm(rows, norm_.weight, norm_.bias, model_.epsilon, rows);
    else
      kernel::rms_norm(rows, norm_.weight, model_.epsilon, rows);
  }
  if (project_.weights.outputs == 0) return rows;
  Matrix wide(n, model_.width);
  kernel::linear(rows, project_.weights, {project_.bias, {}, {}}, wide);
  return wide;
}

namespace {

Matrix as_rows(const Vector& numbers, int width) {
  Matrix rows(static_cast<int>(numbers.size()) / width, width);
  std::ranges::copy(numbers, rows.data());
  return rows;
}

}  // namespace

ImageEmbedder::ImageEmbedder(const Architecture& model, const Checkpoint& checkpoint,
                             const std::string& prefix)
    : model_(model), name_(checkpoint.name()) {
  const ImageEmbedding& image = *model.image;
  const int64_t width = model.width, patch = image.patch, side = image.side / image.patch;
  const int64_t own = static_cast<int64_t>(image.prefix.size());
  Vector tokens;
  for (const std::string& name : image.prefix)
    for (const float number : checkpoint.vector(prefix + name, {1, 1, width}))
      tokens.push_back(number);
  prefix_ = as_rows(tokens, model.width);
  if (!image.registers.empty())
    registers_ = as_rows(
        checkpoint.vector(prefix + image.registers, {1, image.register_count, width}), model.width);
  positions_ = as_rows(checkpoint.vector(prefix + image.positions, {1, own + side * side, width}),
                       model.width);
  project_.weights =
      checkpoint.flattened(prefix + image.project.name + ".weight", {width, 3, patch, patch});
  project_.bias = checkpoint.vector(prefix + image.project.name + ".bias", {width});
}

Matrix ImageEmbedder::embed(const Pixels& pixels) const {
  const ImageEmbedding& image = *model_.image;
  const int patch = image.patch, side = image.side / patch;
  // As the convolution does, what is left over at the right and at the bottom is dropped.
  const int rows = pixels.height / patch, columns = pixels.width / patch;
  const bool fits = pixels.width == image.side && pixels.height == image.side;
  if (rows < 1 || columns < 1 || (!fits && image.resize == ImageEmbedding::Resize::none))
    fail(
        "{}: takes images of {} x {}, expected that size instead of {} x {}; check "
        "preprocessor_config.json",
        name_, image.side, image.side, pixels.width, pixels.height);
  Matrix patches(rows * columns, 3 * patch * patch);
  for (int p = 0; p < patches.rows(); ++p) {
    float* out = patches.row(p).data();
    const int left = p % columns * patch, top = p / columns * patch;
    for (int channel = 0; channel < 3; ++channel)
      for (int y = 0; y < patch; ++y, out += patch)
        std::copy_n(pixels.row(channel, top + y).data() + left, patch, out);
  }
  const int own = prefix_.rows(), first = prefix();
  Matrix out(first + patches.rows(), model_.width);
  const MatrixView table = positions_;
  const bool stretched = rows != side || columns != side;
  const Matrix grid =
      stretched ? stretch_grid(table.rows(own, side * side), side, rows, columns, image.resize)
                : Matrix();
  const MatrixView places = stretched ? MatrixView(grid) : table.rows(own, side * side);
  const auto add = [&](int row, MatrixView from, int k) {
    for (int d = 0; d < model_.width; ++d) out(row, d) += from(k, d);
  };
  for (int k = 0; k < own; ++k) {
    add(k, prefix_, k);
    add(k, table, k);
  }
  for (int k = 0; k < registers_.rows(); ++k) add(own + k, registers_, k);
  kernel::linear(patches, project_.weights, {project_.bias, {}, {}},
                 MatrixSpan(out).rows(first, patches.rows()));
  for (int k = 0; k < patches.rows(); ++k) add(first + k, places, k);
  return out;
}

}  // namespace headwater
