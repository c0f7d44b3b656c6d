#include "headwater/model/embedding.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/norm.h"
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
  const int size = text.projects_words ? model.width : text.size;  // of what is added up
  words_ = checkpoint.matrix(prefix + text.words, text.vocabulary, text.size);
  if (!text.positions.empty())
    positions_ = checkpoint.matrix(prefix + text.positions,
                                   model.positions.value() + text.first_position, size);
  if (!text.types.empty()) types_ = checkpoint.matrix(prefix + text.types, text.type_count, size);
  if (!text.norm.empty()) norm_ = bind_norm(checkpoint, prefix + text.norm, model.norm, size);
  project_ = bind_linear(checkpoint, prefix, text.project, model.width, text.size);
}

void TextEmbedder::copy_word(int id, std::span<float> out) const {
  copy_row(words_, id, out);
  if (model_.text->scale == 1) return;
  for (float& number : out) number *= model_.text->scale;
}

Matrix TextEmbedder::sums(const TextInput& input, int first) const {
  const TextEmbedding& text = *model_.text;
  const int n = static_cast<int>(input.ids.size());
  if (model_.positions && n > *model_.positions - first)
    fail(
        "{}: has {} tokens, expected at most {}, the positions of the model; `truncate` cuts the "
        "input there",
        name_, first + n, *model_.positions);
  for (int t = 0; t < n; ++t)
    if (const int id = input.ids[static_cast<size_t>(t)]; id < 0 || id >= text.vocabulary)
      fail("{}: token {} has id {}, expected 0 to {}, the vocabulary of the model; check the ids",
           name_, t, id, text.vocabulary - 1);
  Matrix rows = summands(tokens(input));
  Vector scratch;
  int position = text.first_position + first;
  for (int t = 0; t < n; ++t) {
    const int id = input.ids[static_cast<size_t>(t)];
    if (types_.outputs > 0) {
      int type = input.types.empty() ? 0 : input.types[static_cast<size_t>(t)];
      // Tokenizers of models with a single type may still give the second text type 1.
      if (text.type_count == 1) type = 0;
      if (type < 0 || type >= text.type_count)
        fail("{}: token {} has type {}, expected 0 to {}; give one text instead of a pair", name_,
             t, type, text.type_count - 1);
      add_row(types_, type, rows.row(t), scratch);
    }
    if (positions_.outputs > 0)
      add_row(positions_, id == text.padding ? *text.padding : position++, rows.row(t), scratch);
  }
  return rows;
}

Matrix TextEmbedder::embed(const TextInput& input, int first) const {
  return embed(sums(input, first));
}

Matrix TextEmbedder::embed(Matrix rows) const {
  if (!norm_.weight.empty()) apply_norm(model_, norm_, rows, rows);
  return model_.text->projects_words ? std::move(rows) : projected(std::move(rows));
}

Matrix TextEmbedder::projected(Matrix rows) const {
  if (project_.weights.outputs == 0) return rows;
  Matrix wide(rows.rows(), model_.width);
  kernel::linear(rows, project_.weights, {project_.bias, {}, {}}, wide);
  return wide;
}

Matrix TextEmbedder::summands(Matrix words) const {
  return model_.text->projects_words ? projected(std::move(words)) : std::move(words);
}

Matrix TextEmbedder::tokens(const TextInput& input) const {
  Matrix rows(static_cast<int>(input.ids.size()), model_.text->size);
  for (int t = 0; t < rows.rows(); ++t) copy_word(input.ids[static_cast<size_t>(t)], rows.row(t));
  return rows;
}

Matrix TextEmbedder::backward(MatrixView rows, Propagation& how, MatrixView gradient) const {
  Matrix down(rows.rows(), rows.columns());
  const bool at_end = project_.weights.outputs > 0 && !model_.text->projects_words;
  if (at_end) how.absorb(gradient, project_.bias);
  if (at_end)
    kernel::linear(gradient, kernel::transposed(project_.weights), {}, down);
  else
    copy(gradient, down);
  if (!norm_.weight.empty())
    apply_norm_backward(model_, norm_, rows, how, down, kernel::Into::store, down);
  return down;
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
  using Shape = std::vector<int64_t>;
  for (const std::string& name : image.prefix)
    for (const float number :
         checkpoint.vector(prefix + name, image.flat ? Shape{width} : Shape{1, 1, width}))
      tokens.push_back(number);
  prefix_ = as_rows(tokens, model.width);
  if (!image.registers.empty())
    registers_ = as_rows(
        checkpoint.vector(prefix + image.registers, {1, image.register_count, width}), model.width);
  const int64_t places = own + side * side;
  positions_ =
      as_rows(checkpoint.vector(prefix + image.positions,
                                image.flat ? Shape{places, width} : Shape{1, places, width}),
              model.width);
  if (!image.norm.empty())
    norm_ = bind_norm(checkpoint, prefix + image.norm, model.norm, model.width);
  project_.weights =
      checkpoint.flattened(prefix + image.project.name + ".weight", {width, 3, patch, patch});
  if (image.project.bias)
    project_.bias = checkpoint.vector(prefix + image.project.name + ".bias", {width});
}

void ImageEmbedder::check(const Pixels& pixels) const {
  const ImageEmbedding& image = *model_.image;
  const bool fits = pixels.width == image.side && pixels.height == image.side;
  if (pixels.height < image.patch || pixels.width < image.patch ||
      (!fits && image.resize == ImageEmbedding::Resize::none))
    fail(
        "{}: takes images of {} x {}, expected that size instead of {} x {}; check "
        "preprocessor_config.json",
        name_, image.side, image.side, pixels.width, pixels.height);
  // The largest that people use have about 5000. Time and memory grow with the square.
  constexpr int64_t most = 1 << 14;
  const int64_t patches = int64_t{pixels.height / image.patch} * (pixels.width / image.patch);
  if (patches > most)
    fail(
        "{}: cuts the image of {} x {} into {} patches of {} x {}, expected at most {}; give a "
        "smaller image, or check \"patch_size\" in its config.json",
        name_, pixels.width, pixels.height, patches, image.patch, image.patch, most);
}

Matrix ImageEmbedder::tokens(const Pixels& pixels) const {
  check(pixels);
  const int patch = model_.image->patch, own = prefix_.rows(), first = prefix();
  // Like the convolution, drops what is left over on the right and at the bottom.
  const int rows = pixels.height / patch, columns = pixels.width / patch;
  Matrix patches(rows * columns, 3 * patch * patch);
  for (int p = 0; p < patches.rows(); ++p) {
    float* out = patches.row(p).data();
    const int left = p % columns * patch, top = p / columns * patch;
    for (int channel = 0; channel < 3; ++channel)
      for (int y = 0; y < patch; ++y, out += patch)
        std::copy_n(pixels.row(channel, top + y).data() + left, patch, out);
  }
  Matrix out(first + patches.rows(), model_.width);
  for (int k = 0; k < own; ++k) std::ranges::copy(prefix_.row(k), out.row(k).begin());
  for (int k = own; k < first; ++k) std::ranges::copy(registers_.row(k - own), out.row(k).begin());
  kernel::linear(patches, project_.weights, {project_.bias, {}, {}},
                 MatrixSpan(out).rows(first, patches.rows()));
  return out;
}

Matrix ImageEmbedder::embed(Matrix rows) const {
  if (!norm_.weight.empty()) apply_norm(model_, norm_, rows, rows);
  return rows;
}

Matrix ImageEmbedder::backward(MatrixView rows, Propagation& how, MatrixView gradient) const {
  Matrix down(rows.rows(), rows.columns());
  for (int t = 0; t < down.rows(); ++t) std::ranges::copy(gradient.row(t), down.row(t).begin());
  if (!norm_.weight.empty())
    apply_norm_backward(model_, norm_, rows, how, down, kernel::Into::store, down);
  return down;
}

Matrix ImageEmbedder::sums(const Pixels& pixels) const {
  Matrix out = tokens(pixels);
  const ImageEmbedding& image = *model_.image;
  const int side = image.side / image.patch, own = prefix_.rows(), first = prefix();
  const int rows = pixels.height / image.patch, columns = pixels.width / image.patch;
  const MatrixView table = positions_;
  const bool stretched = rows != side || columns != side;
  const Matrix grid =
      stretched ? stretch_grid(table.rows(own, side * side), side, rows, columns, image.resize)
                : Matrix();
  const MatrixView places = stretched ? MatrixView(grid) : table.rows(own, side * side);
  const auto add = [&](int row, MatrixView from, int k) {
    for (int d = 0; d < model_.width; ++d) out(row, d) += from(k, d);
  };
  for (int k = 0; k < own; ++k) add(k, table, k);
  for (int k = 0; k < rows * columns; ++k) add(first + k, places, k);
  return out;
}

}  // namespace headwater
