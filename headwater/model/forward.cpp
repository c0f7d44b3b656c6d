#include "headwater/model/forward.h"

#include <algorithm>
#include <cassert>

#include "headwater/model/convolution.h"
#include "headwater/model/norm.h"
#include "headwater/model/projection.h"
#include "headwater/model/some_rows.h"

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

// Where each text continues.
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
      hidden_(std::move(hidden)),
      after_(model, hidden_.rows()) {
  assert(inputs_.rows() == hidden_.rows());
  assert(caches_.empty() || caches_.size() == static_cast<size_t>(inputs_.count()));
  const int n = hidden_.rows();
  if (shape_.rope) angles_ = inputs_.angles(*shape_.rope);
  if (shape_.window_rope) window_angles_ = inputs_.angles(*shape_.window_rope);
  own_.projected = Matrix(n, projected_columns(shape_));
  own_.mixed = Matrix(n, shape_.heads * shape_.head_size);
  distances_ = inputs_.distances(model);
  if (inputs_.count() == 1) places_ = PlaceScores(model.places(), n);
}

MatrixView Forward::queries() const { return queries_of(shape_, MatrixView(state_->projected)); }

MatrixView Forward::keys() const { return keys_of(shape_, MatrixView(state_->projected)); }

void Forward::step_across(const kernel::HeadMap& fused, const kernel::HeadMap& across) {
  across_ = across;
  step(fused);
}

void Forward::step_each(std::span<const kernel::HeadMap> fused, MatrixSpan sum, LayerState* state) {
  const LayerWeights& layer = model_.layer(next_);
  assert(!projected_ || (!state && state_ == &own_));
  state_ = state ? state : &own_;
  const Convolution* convolution = next_ == 0 ? model_.convolution() : nullptr;
  if (convolution) entered_ = hidden_.copy();
  run_to_activation(layer, fused);
  after_.add_fed(layer, *state_, hidden_);
  keep(hidden_, sum);
  if (!shape_.norm_first) apply_norm(shape_, layer.feed_norm, hidden_, hidden_);
  if (convolution) convolution->apply(entered_, inputs_, hidden_);
  advance();
}

void Forward::step_rows(const std::vector<int>& rows, MatrixSpan sum, LayerState* state) {
  assert(next_ == shape_.layers - 1 && !source_);
  const LayerWeights& layer = model_.layer(next_);
  state_ = state ? state : &own_;
  attend(layer, {});
  AfterAttention after(model_, static_cast<int>(rows.size()));
  LayerState some = state_->some_rows(rows);
  Matrix hidden = chosen(hidden_, rows);
  after.mix(layer, chosen(state_->mixed, rows), some, hidden);
  after.feed(layer, some, hidden);
  after.add_fed(layer, some, hidden);
  state_->put_back(some, rows);
  put_alone(hidden, rows, sum);
  if (!shape_.norm_first) apply_norm(shape_, layer.feed_norm, hidden, hidden);
  put_alone(hidden, rows, hidden_);
  advance();
}

void Forward::advance() {
  ++next_;
  if (next_ < shape_.layers) return;
  for (size_t k = 0; k < caches_.size(); ++k) caches_[k]->count = inputs_.end(static_cast<int>(k));
}

void Forward::fill(int l, MatrixView input, LayerState& state) {
  next_ = l;
  state_ = &state;
  copy(input, hidden_);
  run_to_activation(model_.layer(l), {});
  if (state.added.rows() > 0) after_.add_fed(model_.layer(l), state, hidden_);
}

MatrixView Forward::attention_input(const LayerWeights& layer) {
  return shape_.norm_first && !layer.attention_norm.weight.empty() ? after_.spare()
                                                                   : MatrixSpan(hidden_);
}

void Forward::project() {
  if (projected_) return;
  const LayerWeights& layer = model_.layer(next_);
  if (shape_.norm_first && !layer.attention_norm.weight.empty())
    apply_norm(shape_, layer.attention_norm, hidden_, after_.spare());
  project_scores(shape_, layer, attention_input(layer), state_->projected);
  keep(state_->projected, state_->before);
  place(shape_, layer, window_angles_ && layer.window > 0 ? window_angles_ : angles_,
        state_->projected);
  projected_ = true;
}

void Forward::run_to_activation(const LayerWeights& layer, std::span<const kernel::HeadMap> fused) {
  attend(layer, fused);
  after_.mix(layer, state_->mixed, *state_, hidden_);
  if (source_) attend_across(layer);
  after_.feed(layer, *state_, hidden_);
}

void Forward::attend(const LayerWeights& layer, std::span<const kernel::HeadMap> fused) {
  project();
  projected_ = false;
  project_values(shape_, layer, attention_input(layer), state_->projected);
  inputs_.each([&](int k) {
    const int first = inputs_.first(k), n = inputs_.length(k);
    kernel::Attention attention =
        attention_of(shape_, layer, MatrixView(state_->projected).rows(first, n));
    attention.sight.first = inputs_.position(k);
    attention.distances = distances_.at(inputs_.end(k));
    if (inputs_.count() == 1)
      attention.buckets = places_.run(next_, attention.queries, attention.keys);
    if (!caches_.empty())
      remember(*caches_[static_cast<size_t>(k)], inputs_.position(k), attention);
    kernel::attention(attention, MatrixSpan(state_->mixed).rows(first, n),
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
  const MatrixSpan queries = queries_of(shape_, MatrixSpan(state_->projected));
  if (shape_.norm_first) apply_norm(shape_, cross.norm, hidden_, after_.spare());
  kernel::Attention attention;
  attention.queries = queries;
  attention.keys = source_->keys[static_cast<size_t>(next_)];
  attention.values = source_->values[static_cast<size_t>(next_)];
  attention.heads = shape_.heads;
  attention.groups = shape_.groups;
  attention.scale = layer.scale;
  kernel::linear(shape_.norm_first ? after_.spare() : MatrixSpan(hidden_), cross.query.weights,
                 {cross.query.bias, {}, {}}, queries);
  kernel::attention(attention, state_->mixed, across_);
  after_.add(cross.mixed, state_->mixed, {}, {}, {}, hidden_);
  if (!shape_.norm_first) apply_norm(shape_, cross.norm, hidden_, hidden_);
}

}  // namespace headwater
