#include "headwater/model/after_attention.h"

#include "headwater/model/norm.h"

namespace headwater {
namespace {

// The first rows, as many as are differentiated.
MatrixView first_rows(const Matrix& x, int count) {
  return x.rows() == 0 ? MatrixView(x) : MatrixView(x).rows(0, count);
}

}  // namespace

AfterAttention::AfterAttention(const Model& model, int rows)
    : shape_(model.architecture()), wide_(rows, shape_.width), inner_(rows, shape_.inner) {}

void AfterAttention::mix(const LayerWeights& layer, MatrixView mixed, LayerState& state,
                         MatrixSpan hidden) {
  if (shape_.parallel) {  // the other half starts from the same input
    keep(hidden, state.middle);
    apply_norm(shape_, layer.feed_norm, hidden, wide_);
    feed_normed(layer, wide_, state);
  }
  add(layer.mixed, mixed, layer.attention_scale, layer.attention_out_norm, state.attended, hidden);
  if (shape_.parallel) return;
  keep(hidden, state.middle);
  if (!shape_.norm_first) apply_norm(shape_, layer.attention_norm, hidden, hidden);
}

void AfterAttention::feed(const LayerWeights& layer, LayerState& state, MatrixView hidden) {
  if (shape_.parallel) return;
  if (!shape_.norm_first || layer.feed_norm.weight.empty())
    return feed_normed(layer, hidden, state);
  apply_norm(shape_, layer.feed_norm, hidden, wide_);
  feed_normed(layer, wide_, state);
}

void AfterAttention::add(const LinearWeights& linear, MatrixView x, const Vector& scale,
                         const NormWeights& norm, MatrixSpan before_norm, MatrixSpan hidden) {
  if (scale.empty() && norm.weight.empty()) {
    kernel::linear(x, linear.weights, {linear.bias, {}, kernel::Into::add}, hidden);
    return;
  }
  kernel::linear(x, linear.weights, {linear.bias, {}, {}}, wide_);
  if (!norm.weight.empty()) {
    keep(wide_, before_norm);
    apply_norm(shape_, norm, wide_, wide_);
    headwater::add(wide_, hidden);
    return;
  }
  for (int t = 0; t < hidden.rows(); ++t)
    for (size_t d = 0; d < scale.size(); ++d) hidden.row(t)[d] += scale[d] * wide_.row(t)[d];
}

// Up to the activation, if that is what the state needs, or past it.
void AfterAttention::feed_normed(const LayerWeights& layer, MatrixView x, LayerState& state) {
  const bool gated = layer.gate.weights.outputs > 0;
  if (state.up.rows() > 0) {
    kernel::linear(x, layer.up.weights, {layer.up.bias, {}, {}}, state.up);
    if (gated) kernel::linear(x, layer.gate.weights, {layer.gate.bias, {}, {}}, state.gate);
    return;
  }
  if (!gated) {
    kernel::linear(x, layer.up.weights, {layer.up.bias, shape_.activation, {}}, inner_);
    return;
  }
  kernel::linear(x, layer.gate.weights, {layer.gate.bias, shape_.activation, {}}, inner_);
  kernel::linear(x, layer.up.weights, {layer.up.bias, {}, kernel::Into::multiply}, inner_);
}

void AfterAttention::add_fed(const LayerWeights& layer, LayerState& state, MatrixSpan hidden) {
  if (state.gate.rows() > 0) {
    kernel::activate(state.gate, shape_.activation, inner_);
    for (size_t k = 0; k < inner_.size(); ++k) inner_.data()[k] *= state.up.data()[k];
  } else if (state.up.rows() > 0) {
    kernel::activate(state.up, shape_.activation, inner_);
  }
  add(layer.down, inner_, layer.feed_scale, layer.feed_out_norm, state.added, hidden);
}

// gradient times the factors, or unchanged if there are none.
MatrixView AfterAttention::scaled(MatrixView gradient, const Vector& scale) {
  if (scale.empty()) return gradient;
  for (int t = 0; t < gradient.rows(); ++t)
    for (size_t d = 0; d < scale.size(); ++d) wide_.row(t)[d] = scale[d] * gradient.row(t)[d];
  return wide_;
}

void AfterAttention::feed_backward(const LayerWeights& layer, const LayerState& state,
                                   LayerState* spare, Propagation& how, MatrixSpan gradient) {
  const int n = gradient.rows();
  const bool norm_out = state.added.rows() > 0;
  if (norm_out)
    apply_norm_backward(shape_, layer.feed_out_norm, first_rows(state.added, n), how, gradient,
                        kernel::Into::store, wide_);
  const MatrixView down = norm_out ? wide_ : scaled(gradient, layer.feed_scale);
  how.absorb(down, layer.down.bias);
  kernel::linear(down, kernel::transposed(layer.down.weights), {}, inner_);
  // If a norm comes first, the residual gradient bypasses it.
  const bool norm_in = shape_.norm_first && !layer.feed_norm.weight.empty();
  const kernel::Into into = norm_in ? kernel::Into::store : kernel::Into::add;
  const MatrixSpan to = norm_in ? MatrixSpan(wide_) : gradient;
  if (state.gate.rows() == 0) {
    kernel::activation_backward(first_rows(state.up, n), shape_.activation, how.slope, inner_);
    how.absorb(inner_, layer.up.bias);
    kernel::linear(inner_, kernel::transposed(layer.up.weights), {{}, {}, into}, to);
  } else {
    if (!spare) {
      up_.reuse(n, shape_.inner);
      gate_.reuse(n, shape_.inner);
      copy(first_rows(state.up, n), up_);
      copy(first_rows(state.gate, n), gate_);
    }
    Matrix &up = spare ? spare->up : up_, &gate = spare ? spare->gate : gate_;
    kernel::gated_backward(shape_.activation, how.slope, inner_, gate, up);
    how.absorb(up, layer.up.bias);
    how.absorb(gate, layer.gate.bias);
    kernel::linear(up, kernel::transposed(layer.up.weights), {{}, {}, into}, to);
    kernel::linear(gate, kernel::transposed(layer.gate.weights), {{}, {}, kernel::Into::add}, to);
  }
  if (norm_in)
    apply_norm_backward(shape_, layer.feed_norm, first_rows(state.middle, n), how, wide_,
                        kernel::Into::add, gradient);
  else if (!shape_.norm_first)
    apply_norm_backward(shape_, layer.attention_norm, first_rows(state.middle, n), how, gradient,
                        kernel::Into::store, gradient);
}

void AfterAttention::mix_backward(const LayerWeights& layer, const LayerState& state,
                                  Propagation& how, MatrixView added, MatrixSpan heads) {
  const bool norm_out = state.attended.rows() > 0;
  if (norm_out)
    apply_norm_backward(shape_, layer.attention_out_norm, first_rows(state.attended, added.rows()),
                        how, added, kernel::Into::store, wide_);
  const MatrixView mixed = norm_out ? wide_ : scaled(added, layer.attention_scale);
  how.absorb(mixed, layer.mixed.bias);
  kernel::linear(mixed, kernel::transposed(layer.mixed.weights), {}, heads);
}

}  // namespace headwater
