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

namespace {

// Where each text goes on.
std::vector<int> counts_of(const std::vector<Cache*>& caches) {
  std::vector<int> out;
  for (const Cache* cache : caches) out.push_back(cache->count);
  return out;
}

}  // namespace

Forward::Forward(const Model& model, Matrix hidden)
    : Forward(model, std::move(hidden), std::vector<int>()) {}

Forward::Forward(const Model& model, Matrix hidden, std::vector<int> lengths)
    : Forward(model, std::move(hidden), std::move(lengths), {}) {}

Forward::Forward(const Model& model, Matrix hidden, Cache& cache)
    : Forward(model, std::move(hidden), {}, {&cache}) {}

Forward::Forward(const Model& model, Matrix hidden, Cache& cache, const CrossMemory& source)
    : Forward(model, std::move(hidden), cache) {
  source_ = &source;
}

Forward::Forward(const Model& model, Matrix hidden, std::vector<int> lengths,
                 std::vector<Cache*> caches)
    : model_(model),
      shape_(model.architecture()),
      caches_(std::move(caches)),
      inputs_(lengths.empty() ? std::vector<int>{hidden.rows()} : std::move(lengths),
              counts_of(caches_)),
      hidden_(std::move(hidden)) {
  assert(inputs_.rows() == hidden_.rows());
  assert(caches_.empty() || caches_.size() == static_cast<size_t>(inputs_.count()));
  const int n = hidden_.rows(), queries = shape_.heads * shape_.head_size;
  if (shape_.rope) angles_ = inputs_.angles(*shape_.rope);
  if (shape_.window_rope) window_angles_ = inputs_.angles(*shape_.window_rope);
  normed_ = Matrix(n, shape_.width);
  projected_ = Matrix(n, projected_columns(shape_));
  mixed_ = Matrix(n, queries);
  distances_ = inputs_.distances(model);
  if (inputs_.count() == 1) places_ = PlaceScores(model.places(), n);
  inner_ = Matrix(n, shape_.inner);
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
  attend(layer, fused);
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
  if (next_ < shape_.layers) return;
  for (size_t k = 0; k < caches_.size(); ++k) caches_[k]->count = inputs_.end(static_cast<int>(k));
}

void Forward::attend(const LayerWeights& layer, std::span<const kernel::HeadMap> fused) {
  inputs_.each([&](int k) {
    const int first = inputs_.first(k), n = inputs_.length(k);
    kernel::Attention attention =
        attention_of(shape_, layer, MatrixSpan(projected_).rows(first, n));
    attention.sight.first = inputs_.position(k);
    attention.distances = distances_.at(inputs_.end(k));
    if (inputs_.count() == 1)
      attention.buckets = places_.run(next_, attention.queries, attention.keys);
    if (!caches_.empty())
      remember(*caches_[static_cast<size_t>(k)], inputs_.position(k), attention);
    kernel::attention(attention, MatrixSpan(mixed_).rows(first, n),
                      fused.empty() ? kernel::HeadMap() : fused[static_cast<size_t>(k)]);
  });
}

// Adds the keys and values to the cache, and has the queries attend to all of it.
void Forward::remember(Cache& cache, int position, kernel::Attention& attention) const {
  const int n = attention.keys.rows();
  assert(n <= cache.capacity - position);
  Matrix& keys = cache.keys[static_cast<size_t>(next_)];
  Matrix& values = cache.values[static_cast<size_t>(next_)];
  for (int t = 0; t < n; ++t) {
    std::ranges::copy(attention.keys.row(t), keys.row(position + t).begin());
    std::ranges::copy(attention.values.row(t), values.row(position + t).begin());
  }
  attention.keys = MatrixView(keys).rows(0, position + n);
  attention.values = MatrixView(values).rows(0, position + n);
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
