#include "headwater/model/backward.h"

#include <algorithm>

#include "headwater/model/norm.h"
#include "headwater/model/projection.h"

namespace headwater {
namespace {

void copy(MatrixView from, MatrixSpan to) {
  for (int t = 0; t < from.rows(); ++t) std::ranges::copy(from.row(t), to.row(t).begin());
}

}  // namespace

Backward::Backward(const Model& model, int n, Propagation& how)
    : Backward(model, std::vector<int>{n}, how) {}

Backward::Backward(const Model& model, std::vector<int> lengths, Propagation& how)
    : model_(model),
      shape_(model.architecture()),
      how_(how),
      inputs_(std::move(lengths)),
      distances_(inputs_.distances(model)) {
  const int n = inputs_.rows(), queries = shape_.heads * shape_.head_size;
  if (shape_.rope) angles_ = inputs_.angles(*shape_.rope);
  if (shape_.window_rope) window_angles_ = inputs_.angles(*shape_.window_rope);
  if (!shape_.attention_out_norm.empty()) attended_ = Matrix(n, shape_.width);
  if (!shape_.feed_out_norm.empty()) added_ = Matrix(n, shape_.width);
  normed_ = Matrix(n, shape_.width);
  fed_ = Matrix(n, shape_.width);
  middle_ = Matrix(n, shape_.width);
  wide_ = Matrix(n, shape_.width);
  if (shape_.parallel) whole_ = Matrix(n, shape_.width);
  if (!shape_.query_norm.empty() && how.attention.scores != 0)
    before_ = Matrix(n, projected_columns(shape_));
  projected_ = Matrix(n, projected_columns(shape_));
  if (inputs_.count() == 1) places_ = PlaceScores(model.places(), n);
  columns_ = Matrix(n, projected_columns(shape_));
  mixed_ = Matrix(n, queries);
  heads_ = Matrix(n, queries);
  up_ = Matrix(n, shape_.inner);
  inner_ = Matrix(n, shape_.inner);
  if (!shape_.gate.name.empty() || !shape_.packed_gate.name.empty())
    gate_ = Matrix(n, shape_.inner);
}

void Backward::layer(int l, MatrixView input, MatrixView sum, MatrixSpan gradient,
                     const kernel::HeadMap& fused) {
  const LayerWeights& layer = model_.layer(l);
  run(layer, l, input);
  if (!shape_.norm_first)
    apply_norm_backward(shape_, layer.feed_norm, sum, how_, gradient, kernel::Into::store,
                        gradient);
  if (shape_.parallel) copy(gradient, whole_);
  feed_backward(layer, gradient);
  attend_backward(layer, l, input, shape_.parallel ? MatrixView(whole_) : gradient, gradient,
                  fused);
}

kernel::Attention Backward::attention(const LayerWeights& layer, int l, int k) {
  const int n = inputs_.length(k);
  kernel::Attention attention =
      attention_of(shape_, layer, MatrixSpan(projected_).rows(inputs_.first(k), n));
  attention.distances = distances_.at(n);
  if (inputs_.count() == 1) attention.buckets = places_.run(l, attention.queries, attention.keys);
  return attention;
}

// Like Forward::step, up to the inputs of the activation.
void Backward::run(const LayerWeights& layer, int l, MatrixView input) {
  const bool norm_in = shape_.norm_first && !layer.attention_norm.weight.empty();
  if (norm_in) apply_norm(shape_, layer.attention_norm, input, normed_);
  project(shape_, layer, norm_in ? MatrixView(normed_) : input, projected_);
  if (before_.rows() > 0) copy(projected_, before_);
  place(shape_, layer, angles_of(layer), projected_);
  inputs_.each([&](int k) {
    kernel::attention(attention(layer, l, k),
                      MatrixSpan(mixed_).rows(inputs_.first(k), inputs_.length(k)), {});
  });
  copy(input, middle_);
  if (shape_.parallel) {
    // The feed-forward half starts from the block's input.
  } else if (!layer.attention_out_norm.weight.empty()) {
    kernel::linear(mixed_, layer.mixed.weights, {layer.mixed.bias, {}, {}}, attended_);
    apply_norm(shape_, layer.attention_out_norm, attended_, wide_);
    for (size_t k = 0; k < middle_.size(); ++k) middle_.data()[k] += wide_.data()[k];
  } else if (layer.attention_scale.empty()) {
    kernel::linear(mixed_, layer.mixed.weights, {layer.mixed.bias, {}, kernel::Into::add}, middle_);
  } else {
    kernel::linear(mixed_, layer.mixed.weights, {layer.mixed.bias, {}, {}}, wide_);
    const MatrixView added = scaled(wide_, layer.attention_scale);
    for (size_t k = 0; k < middle_.size(); ++k) middle_.data()[k] += added.data()[k];
  }
  if (shape_.norm_first && layer.feed_norm.weight.empty())
    copy(middle_, fed_);
  else
    apply_norm(shape_, shape_.norm_first ? layer.feed_norm : layer.attention_norm, middle_, fed_);
  kernel::linear(fed_, layer.up.weights, {layer.up.bias, {}, {}}, up_);
  if (gate_.rows() > 0) kernel::linear(fed_, layer.gate.weights, {layer.gate.bias, {}, {}}, gate_);
  if (added_.rows() > 0) run_out(layer);
}

// The last product, which only a norm after it makes necessary.
void Backward::run_out(const LayerWeights& layer) {
  const LinearWeights& first = gate_.rows() > 0 ? layer.gate : layer.up;
  kernel::linear(fed_, first.weights, {first.bias, shape_.activation, {}}, inner_);
  if (gate_.rows() > 0)
    kernel::linear(fed_, layer.up.weights, {layer.up.bias, {}, kernel::Into::multiply}, inner_);
  kernel::linear(inner_, layer.down.weights, {layer.down.bias, {}, {}}, added_);
}

// gradient times the factors, or unchanged if there are none.
MatrixView Backward::scaled(MatrixView gradient, const Vector& scale) {
  if (scale.empty()) return gradient;
  for (int t = 0; t < gradient.rows(); ++t)
    for (size_t d = 0; d < scale.size(); ++d) wide_.row(t)[d] = scale[d] * gradient.row(t)[d];
  return wide_;
}

// From after the feed-forward half (without a norm at its end) to before it (without a norm at the
// end of the first half).
void Backward::feed_backward(const LayerWeights& layer, MatrixSpan gradient) {
  const bool norm_out = added_.rows() > 0;
  if (norm_out)
    apply_norm_backward(shape_, layer.feed_out_norm, added_, how_, gradient, kernel::Into::store,
                        wide_);
  const MatrixView down = norm_out ? wide_ : scaled(gradient, layer.feed_scale);
  how_.absorb(down, layer.down.bias);
  kernel::linear(down, kernel::transposed(layer.down.weights), {}, inner_);
  // If a norm comes first, the residual gradient bypasses it.
  const bool norm_in = shape_.norm_first && !layer.feed_norm.weight.empty();
  const kernel::Into into = norm_in ? kernel::Into::store : kernel::Into::add;
  const MatrixSpan to = norm_in ? MatrixSpan(wide_) : gradient;
  if (gate_.rows() == 0) {
    kernel::activation_backward(up_, shape_.activation, how_.slope, inner_);
    how_.absorb(inner_, layer.up.bias);
    kernel::linear(inner_, kernel::transposed(layer.up.weights), {{}, {}, into}, to);
  } else {
    kernel::gated_backward(shape_.activation, how_.slope, inner_, gate_, up_);
    how_.absorb(up_, layer.up.bias);
    how_.absorb(gate_, layer.gate.bias);
    kernel::linear(up_, kernel::transposed(layer.up.weights), {{}, {}, into}, to);
    kernel::linear(gate_, kernel::transposed(layer.gate.weights), {{}, {}, kernel::Into::add}, to);
  }
  if (norm_in)
    apply_norm_backward(shape_, layer.feed_norm, middle_, how_, wide_, kernel::Into::add, gradient);
  else if (!shape_.norm_first)
    apply_norm_backward(shape_, layer.attention_norm, middle_, how_, gradient, kernel::Into::store,
                        gradient);
}

void Backward::attend_backward(const LayerWeights& layer, int l, MatrixView input, MatrixView after,
                               MatrixSpan gradient, const kernel::HeadMap& fused) {
  const bool norm_out = attended_.rows() > 0;
  if (norm_out)
    apply_norm_backward(shape_, layer.attention_out_norm, attended_, how_, after,
                        kernel::Into::store, wide_);
  const MatrixView mixed = norm_out ? wide_ : scaled(after, layer.attention_scale);
  how_.absorb(mixed, layer.mixed.bias);
  kernel::linear(mixed, kernel::transposed(layer.mixed.weights), {}, heads_);
  const auto places = places_.gradients();
  inputs_.each([&](int k) {
    const int first = inputs_.first(k), n = inputs_.length(k);
    const MatrixSpan columns = MatrixSpan(columns_).rows(first, n);
    kernel::attention_backward(attention(layer, l, k), MatrixView(heads_).rows(first, n),
                               how_.attention,
                               {queries_of(shape_, columns), keys_of(shape_, columns),
                                values_of(shape_, columns), places.first, places.second},
                               fused);
  });
  if (inputs_.count() == 1 && how_.attention.scores != 0)
    places_.backward(l, queries_of(shape_, columns_), keys_of(shape_, columns_));
  place_backward(shape_, layer, angles_of(layer), how_, before_, columns_);
  if (!shape_.norm_first || layer.attention_norm.weight.empty())
    return project_backward(shape_, layer, how_, columns_, kernel::Into::add, gradient);
  project_backward(shape_, layer, how_, columns_, kernel::Into::store, wide_);
  apply_norm_backward(shape_, layer.attention_norm, input, how_, wide_, kernel::Into::add,
                      gradient);
}

void Backward::put_head_shares(std::span<float> shares) const {
  for (int h = 0; h < shape_.heads; ++h) {
    double sum = 0;
    for (int t = 0; t < mixed_.rows(); ++t)
      for (int d = h * shape_.head_size; d < (h + 1) * shape_.head_size; ++d)
        sum += double{mixed_(t, d)} * heads_(t, d);
    shares[static_cast<size_t>(h)] = static_cast<float>(sum);
  }
}

}  // namespace headwater
