#include "headwater/model/places.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "headwater/model/norm.h"

namespace headwater {
namespace {

MatrixView head_columns(MatrixView x, int head, int size) {
  return {x.data() + std::ptrdiff_t{head} * size, x.rows(), size, x.stride()};
}

MatrixSpan head_columns(MatrixSpan x, int head, int size) {
  return {x.data() + std::ptrdiff_t{head} * size, x.rows(), size, x.stride()};
}

}  // namespace

Places::Places(const Architecture& model, const Checkpoint& checkpoint, const std::string& prefix)
    : model_(model) {
  const PlaceNames& names = *model.places;
  table_ = checkpoint.matrix(prefix + names.table, 2 * names.span, model.width);
  if (!names.norm.empty())
    norm_ = bind_norm(checkpoint, prefix + names.norm, model.norm, model.width);
  const int columns = model.heads * model.head_size;
  for (int l = 0; l < model.layers; ++l) {
    const std::string block = prefix + model.layer(l);
    maps_.push_back({bind_linear(checkpoint, block, names.keys, columns, model.width),
                     bind_linear(checkpoint, block, names.queries, columns, model.width)});
  }
}

// In float, as PyTorch rounds.
int Places::bucket_of(int distance) const {
  const PlaceNames& names = *model_.places;
  const int single = names.span / 2, far = std::abs(distance);
  int bucket = far;
  if (names.furthest > 0 && far > single) {
    const auto start = static_cast<float>(single);
    const float steps =
        std::log(static_cast<float>(far) / start) /
        std::log(static_cast<float>((names.furthest - 1) / static_cast<double>(single))) *
        static_cast<float>(single - 1);
    bucket = static_cast<int>(std::min(std::ceil(steps) + start, 1e6f));
  }
  return std::clamp(names.span + (distance < 0 ? -bucket : bucket), 0, 2 * names.span - 1);
}

Vector Places::spread(MatrixView rows, const LinearWeights& map) const {
  if (map.weights.outputs == 0) return {};
  Matrix wide(rows.rows(), map.weights.outputs);
  kernel::linear(rows, map.weights, {map.bias, {}, {}}, wide);
  const float scale =
      static_cast<float>(1 / std::sqrt(model_.scaled_by.value_or(model_.head_size)));
  Vector by_head(wide.size());
  auto to = by_head.begin();
  for (int h = 0; h < model_.heads; ++h)
    for (int b = 0; b < wide.rows(); ++b)
      for (const float number : head_columns(MatrixView(wide), h, model_.head_size).row(b))
        *to++ = number * scale;
  return by_head;
}

const Places::Layer& Places::layer(int l) const {
  const std::vector<Layer>* layers = layers_.get([&] {
    Matrix rows(table_.outputs, table_.inputs);
    for (int b = 0; b < rows.rows(); ++b) copy_row(table_, b, rows.row(b));
    if (!norm_.weight.empty()) apply_norm(model_, norm_, rows, rows);
    auto all = std::make_unique<std::vector<Layer>>();
    for (const Maps& maps : maps_)
      all->push_back({spread(rows, maps.keys), spread(rows, maps.queries)});
    return all;
  });
  return (*layers)[static_cast<size_t>(l)];
}

PlaceScores::PlaceScores(const Places* places, int n) : places_(places) {
  if (!places_) return;
  // Column j - i + n - 1: the distance from key j to query i is i - j.
  for (int k = 0; k < 2 * n - 1; ++k) of_.push_back(places_->bucket_of(n - 1 - k));
  const auto [least, most] = std::ranges::minmax(of_);
  first_ = least;
  count_ = most - least + 1;
  for (int& bucket : of_) bucket -= first_;
}

kernel::Weights PlaceScores::weights(const Vector& numbers, int head) const {
  const Architecture& model = places_->model();
  const size_t row = static_cast<size_t>(head) * static_cast<size_t>(2 * model.places->span) +
                     static_cast<size_t>(first_);
  const float* at = numbers.data() + row * static_cast<size_t>(model.head_size);
  return {DType::f32, reinterpret_cast<const std::byte*>(at), count_, model.head_size, false};
}

kernel::Buckets PlaceScores::run(int l, MatrixView queries, MatrixView keys) {
  if (!places_) return {};
  const Architecture& model = places_->model();
  const Places::Layer& layer = places_->layer(l);
  const auto multiply = [&](MatrixView x, const Vector& with, Matrix& out) {
    if (with.empty()) return;
    if (out.rows() != x.rows()) out = Matrix(x.rows(), model.heads * count_);
    for (int h = 0; h < model.heads; ++h)
      kernel::linear(head_columns(x, h, model.head_size), weights(with, h), {},
                     head_columns(MatrixSpan(out), h, count_));
  };
  multiply(queries, layer.keys, by_query_);
  multiply(keys, layer.queries, by_key_);
  return {count_, by_query_, by_key_, of_};
}

std::pair<MatrixSpan, MatrixSpan> PlaceScores::gradients() {
  const auto fit = [](const Matrix& like, Matrix& room) {
    if (room.rows() != like.rows()) room = Matrix(like.rows(), like.columns());
    return MatrixSpan(room);
  };
  return {fit(by_query_, query_gradient_), fit(by_key_, key_gradient_)};
}

void PlaceScores::backward(int l, MatrixSpan queries, MatrixSpan keys) {
  if (!places_) return;
  const Architecture& model = places_->model();
  const auto add = [&](const Matrix& gradient, const Vector& with, MatrixSpan to) {
    for (int h = 0; h < (with.empty() ? 0 : model.heads); ++h)
      kernel::linear(head_columns(MatrixView(gradient), h, count_),
                     kernel::transposed(weights(with, h)), {{}, {}, kernel::Into::add},
                     head_columns(to, h, model.head_size));
  };
  add(query_gradient_, places_->layer(l).keys, queries);
  add(key_gradient_, places_->layer(l).queries, keys);
}

}  // namespace headwater
