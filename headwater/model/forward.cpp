#include "headwater/model/forward.h"

#include <algorithm>
#include <cassert>

#include "headwater/model/norm.h"
#include "headwater/model/projection.h"

namespace headwater {

Cache::Cache(const Model& model, int capacity) : capacity(capacity) {
  const Architecture& shape = model.architecture();
  for (int l = 0; l < shape.layers; ++l) {
    keys.emplace_back(capacity, shape.groups * shape.head_size);
    values.emplace_back(capacity, shape.groups * shape.head_size);
  }
}

CrossMemory::CrossMemory(const Model& decoder, MatrixView encoded) {
  const Architecture& shape = decoder.architecture();
  const auto mapped = [&](const LinearWeights& linear) {
    Matrix out(encoded.rows(), shape.groups * shape.head_size);
    kernel::linear(encoded, linear.weights, {linear.bias, {}, {}}, out);
    return out;
  };
  for (int l = 0; l < shape.layers; ++l) {
    keys.push_back(mapped(decoder.layer(l).cross.key));
    values.push_back(mapped(decoder.layer(l).cross.value));
  }
}

Forward::Forward(const Model& model, Matrix hidden)
    : Forward(model, std::move(hidden), std::vector<int>()) {}

Forward::Forward(const Model& model, Matrix hidden, std::vector<int> lengths)
    : model_(model),
      shape_(model.architecture()),
      inputs_(lengths.empty() ? std::vector<int>{hidden.rows()} : std::move(lengths)),
      hidden_(std::move(hidden)) {
  assert(inputs_.rows() == hidden_.rows());
  const int n = hidden_.rows(), queries = shape_.heads * shape_.head_size;
  set_angles();
  normed_ = Matrix(n, shape_.width);
  projected_ = Matrix(n, projected_columns(shape_));
  mixed_ = Matrix(n, queries);
  distances_ = inputs_.distances(model);
  if (inputs_.count() == 1) places_ = PlaceScores(model.places(), n);
  inner_ = Matrix(n, shape_.inner);
}

Forward::Forward(const Model& model, Matrix hidden, Cache& cache)
    : Forward(model, std::move(hidden)) {
  assert(hidden_.rows() <= cache.capacity - cache.count);
  cache_ = &cache;
  first_ = cache.count;
  if (first_ == 0) return;
  set_angles();
  // They reach back over the cache.
  const int n = hidden_.rows();
  distances_[n] = model.distances(first_ + n);
}

Forward::Forward(const Model& model, Matrix hidden, Cache& cache, const CrossMemory& source)
    : Forward(model, std::move(hidden), cache) {
  source_ = &source;
}

void Forward::set_angles() {
  const auto of = [&](const Rope& rope) {
    const int n = hidden_.rows();
    return first_ == 0 ? inputs_.angles(rope) : angles(rope, first_, n, first_ + n);
  };
  if (shape_.rope) angles_ = of(*shape_.rope);
  if (shape_.window_rope) window_angles_ = of(*shape_.window_rope);
}

MatrixView Forward::queries() const {
  return {projected_.data(), projected_.rows(), shape_.heads * shape_.head_size,
          projected_.columns()};
}

MatrixView Forward::keys() const {
  return {projected_.data() + shape_.heads * shape_.head_size, projected_.rows(),
          shape_.groups * shape_.head_size, projected_.columns()};
}

void Forward::step_across(const kernel::HeadMap& fused, const kernel::HeadMap& across) {
  across_ = across;
  step(fused);
}

void Forward::step_each(std::span<const kernel::HeadMap> fused, MatrixSpan sum) {
  const LayerWeights& layer = model_.layer(next_);
  if (shape_.norm_first && !layer.attention_norm.weight.empty()) {
    apply_norm(shape_, layer.attention_norm, hidden_, normed_);
    project(shape_, layer, normed_, projected_);
  } else {
    project(shape_, layer, hidden_, projected_);
  }
  place(shape_, layer, window_angles_ && layer.window > 0 ? window_angles_ : angles_, projected_);
  if (shape_.parallel) {
    apply_norm(shape_, layer.feed_norm, hidden_, normed_);
    feed(layer, normed_);
  }
  if (inputs_.count() == 1)
    attend(layer, fused.empty() ? kernel::HeadMap() : fused[0]);
  else
    attend_each(layer, fused);
  add(layer.mixed, mixed_, layer.attention_scale, layer.attention_out_norm);
  if (!shape_.norm_first) apply_norm(shape_, layer.attention_norm, hidden_, hidden_);
  if (source_) attend_across(layer);
  if (shape_.parallel) {
    // The feed-forward half has read the block's input already.
  } else if (shape_.norm_first && !layer.feed_norm.weight.empty()) {
    apply_norm(shape_, layer.feed_norm, hidden_, normed_);
    feed(layer, normed_);
  } else {
    feed(layer, hidden_);
  }
  add(layer.down, inner_, layer.feed_scale, layer.feed_out_norm);
  for (int t = 0; t < sum.rows(); ++t) std::ranges::copy(hidden_.row(t), sum.row(t).begin());
  if (!shape_.norm_first) apply_norm(shape_, layer.feed_norm, hidden_, hidden_);
  ++next_;
  if (cache_ && next_ == shape_.layers) cache_->count += hidden_.rows();
}

void Forward::attend(const LayerWeights& layer, const kernel::HeadMap& fused) {
  kernel::Attention attention = attention_of(shape_, layer, projected_);
  attention.sight.first = first_;
  attention.distances = distances_.at(hidden_.rows());
  attention.buckets = places_.run(next_, attention.queries, attention.keys);
  if (cache_) {
    Matrix& kept_keys = cache_->keys[static_cast<size_t>(next_)];
    Matrix& kept_values = cache_->values[static_cast<size_t>(next_)];
    for (int t = 0; t < hidden_.rows(); ++t) {
      std::ranges::copy(attention.keys.row(t), kept_keys.row(first_ + t).begin());
      std::ranges::copy(attention.values.row(t), kept_values.row(first_ + t).begin());
    }
    attention.keys = MatrixView(kept_keys).rows(0, first_ + hidden_.rows());
    attention.values = MatrixView(kept_values).rows(0, first_ + hidden_.rows());
  }
  kernel::attention(attention, mixed_, fused);
}

void Forward::attend_each(const LayerWeights& layer, std::span<const kernel::HeadMap> fused) {
  inputs_.each([&](int k) {
    const int first = inputs_.first(k), n = inputs_.length(k);
    kernel::Attention attention =
        attention_of(shape_, layer, MatrixSpan(projected_).rows(first, n));
    attention.distances = distances_.at(n);
    kernel::attention(attention, MatrixSpan(mixed_).rows(first, n),
                      fused.empty() ? kernel::HeadMap() : fused[static_cast<size_t>(k)]);
  });
}

void Forward::attend_across(const LayerWeights& layer) {
  const CrossWeights& cross = layer.cross;
  if (shape_.norm_first) apply_norm(shape_, cross.norm, hidden_, normed_);
  kernel::Attention attention;
  attention.queries = queries_of(shape_, projected_);
  attention.keys = source_->keys[static_cast<size_t>(next_)];
  attention.values = source_->values[static_cast<size_t>(next_)];
  attention.heads = shape_.heads;
  attention.groups = shape_.groups;
  attention.scale = layer.scale;
  kernel::linear(shape_.norm_first ? normed_ : hidden_, cross.query.weights,
                 {cross.query.bias, {}, {}}, queries_of(shape_, projected_));
  kernel::attention(attention, mixed_, across_);
  add(cross.mixed, mixed_, {}, {});
  if (!shape_.norm_first) apply_norm(shape_, cross.norm, hidden_, hidden_);
}

// hidden += scale * norm(linear(x)), without the parts that the model does not have.
void Forward::add(const LinearWeights& linear, MatrixView x, const Vector& scale,
                  const NormWeights& norm) {
  if (scale.empty() && norm.weight.empty()) {
    kernel::linear(x, linear.weights, {linear.bias, {}, kernel::Into::add}, hidden_);
    return;
  }
  kernel::linear(x, linear.weights, {linear.bias, {}, {}}, normed_);
  if (!norm.weight.empty()) {
    apply_norm(shape_, norm, normed_, normed_);
    for (size_t k = 0; k < hidden_.size(); ++k) hidden_.data()[k] += normed_.data()[k];
    return;
  }
  for (int t = 0; t < hidden_.rows(); ++t)
    for (size_t d = 0; d < scale.size(); ++d) hidden_.row(t)[d] += scale[d] * normed_.row(t)[d];
}

void Forward::feed(const LayerWeights& layer, MatrixView x) {
  if (layer.gate.weights.outputs == 0) {
    kernel::linear(x, layer.up.weights, {layer.up.bias, shape_.activation, {}}, inner_);
    return;
  }
  kernel::linear(x, layer.gate.weights, {layer.gate.bias, shape_.activation, {}}, inner_);
  kernel::linear(x, layer.up.weights, {layer.up.bias, {}, kernel::Into::multiply}, inner_);
}

}  // namespace headwater
