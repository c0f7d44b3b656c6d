#include "headwater/model/backward.h"

#include <algorithm>

#include "headwater/model/convolution.h"
#include "headwater/model/norm.h"
#include "headwater/model/projection.h"

namespace headwater {
namespace {

std::vector<int> rows_with_numbers(MatrixView x) {
  std::vector<int> out;
  for (int t = 0; t < x.rows(); ++t)
    if (std::ranges::any_of(x.row(t), [](float number) { return number != 0; })) out.push_back(t);
  return out;
}

Matrix chosen(MatrixView x, const std::vector<int>& rows) {
  if (x.rows() == 0) return {};
  Matrix out(static_cast<int>(rows.size()), x.columns());
  for (size_t k = 0; k < rows.size(); ++k)
    std::ranges::copy(x.row(rows[k]), out.row(static_cast<int>(k)).begin());
  return out;
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
  wide_ = Matrix(n, shape_.width);
  if (shape_.parallel) whole_ = Matrix(n, shape_.width);
  if (inputs_.count() == 1) places_ = PlaceScores(model.places(), n);
  columns_ = Matrix(n, projected_columns(shape_));
  heads_ = Matrix(n, queries);
  inner_ = Matrix(n, shape_.inner);
}

void Backward::layer(int l, MatrixView input, MatrixView sum, const LayerState* kept,
                     MatrixSpan gradient, const kernel::HeadMap& fused) {
  const LayerWeights& layer = model_.layer(l);
  if (!kept) {
    if (!again_) {
      again_.emplace(model_, Matrix(inputs_.rows(), shape_.width), inputs_.lengths());
      own_ = LayerState(shape_, inputs_.rows());
    }
    again_->fill(l, input, own_);
  }
  state_ = kept ? kept : &own_;
  Matrix beside;
  if (l == 0 && model_.convolution()) {
    apply_norm(shape_, layer.feed_norm, sum, wide_);
    beside = model_.convolution()->backward(input, wide_, inputs_, how_, gradient);
  }
  if (!shape_.norm_first)
    apply_norm_backward(shape_, layer.feed_norm, sum, how_, gradient, kernel::Into::store,
                        gradient);
  if (shape_.parallel) copy(gradient, whole_);
  feed_some_backward(layer, gradient);
  attend_backward(layer, l, input, shape_.parallel ? MatrixView(whole_) : gradient, gradient,
                  fused);
  if (beside.rows() > 0) add(beside, gradient);
}

kernel::Attention Backward::attention(const LayerWeights& layer, int l, int k) {
  const int n = inputs_.length(k);
  kernel::Attention attention =
      attention_of(shape_, layer, MatrixView(state_->projected).rows(inputs_.first(k), n));
  attention.distances = distances_.at(n);
  if (inputs_.count() == 1) attention.buckets = places_.run(l, attention.queries, attention.keys);
  return attention;
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
  const bool norm_out = state_->added.rows() > 0;
  if (norm_out)
    apply_norm_backward(shape_, layer.feed_out_norm, rows_of(state_->added), how_, gradient,
                        kernel::Into::store, wide_);
  const MatrixView down = norm_out ? wide_ : scaled(gradient, layer.feed_scale);
  how_.absorb(down, layer.down.bias);
  kernel::linear(down, kernel::transposed(layer.down.weights), {}, inner_);
  // If a norm comes first, the residual gradient bypasses it.
  const bool norm_in = shape_.norm_first && !layer.feed_norm.weight.empty();
  const kernel::Into into = norm_in ? kernel::Into::store : kernel::Into::add;
  const MatrixSpan to = norm_in ? MatrixSpan(wide_) : gradient;
  if (state_->gate.rows() == 0) {
    kernel::activation_backward(rows_of(state_->up), shape_.activation, how_.slope, inner_);
    how_.absorb(inner_, layer.up.bias);
    kernel::linear(inner_, kernel::transposed(layer.up.weights), {{}, {}, into}, to);
  } else {
    if (state_ != &own_) {
      // Kept states may be read again.
      if (own_.up.rows() == 0) {
        own_.up = Matrix(inner_.rows(), shape_.inner);
        own_.gate = Matrix(inner_.rows(), shape_.inner);
      }
      copy(rows_of(state_->up), own_.up);
      copy(rows_of(state_->gate), own_.gate);
    }
    kernel::gated_backward(shape_.activation, how_.slope, inner_, own_.gate, own_.up);
    how_.absorb(own_.up, layer.up.bias);
    how_.absorb(own_.gate, layer.gate.bias);
    kernel::linear(own_.up, kernel::transposed(layer.up.weights), {{}, {}, into}, to);
    kernel::linear(own_.gate, kernel::transposed(layer.gate.weights), {{}, {}, kernel::Into::add},
                   to);
  }
  if (norm_in)
    apply_norm_backward(shape_, layer.feed_norm, rows_of(state_->middle), how_, wide_,
                        kernel::Into::add, gradient);
  else if (!shape_.norm_first)
    apply_norm_backward(shape_, layer.attention_norm, rows_of(state_->middle), how_, gradient,
                        kernel::Into::store, gradient);
}

// A target is in one row of each input, so the last layer has few rows that are not zero.
void Backward::feed_some_backward(const LayerWeights& layer, MatrixSpan gradient) {
  const std::vector<int> some = rows_with_numbers(gradient);
  if (some.empty()) return;
  if (2 * some.size() > static_cast<size_t>(gradient.rows())) return feed_backward(layer, gradient);
  Propagation how = how_;
  int first = 0;
  for (int& length : how.lengths) {
    const int end = first + length;
    length = static_cast<int>(std::ranges::lower_bound(some, end) -
                              std::ranges::lower_bound(some, first));
    first = end;
  }
  Backward few(model_, static_cast<int>(some.size()), how);
  few.own_.middle = chosen(state_->middle, some);
  few.own_.up = chosen(state_->up, some);
  few.own_.gate = chosen(state_->gate, some);
  few.own_.added = chosen(state_->added, some);
  few.state_ = &few.own_;
  Matrix own = chosen(gradient, some);
  few.feed_backward(layer, own);
  for (size_t k = 0; k < some.size(); ++k)
    std::ranges::copy(own.row(static_cast<int>(k)), gradient.row(some[k]).begin());
  how_.biases = how.biases;
  how_.each = std::move(how.each);
}

void Backward::attend_backward(const LayerWeights& layer, int l, MatrixView input, MatrixView after,
                               MatrixSpan gradient, const kernel::HeadMap& fused) {
  const bool norm_out = state_->attended.rows() > 0;
  if (norm_out)
    apply_norm_backward(shape_, layer.attention_out_norm, rows_of(state_->attended), how_, after,
                        kernel::Into::store, wide_);
  const MatrixView mixed = norm_out ? wide_ : scaled(after, layer.attention_scale);
  how_.absorb(mixed, layer.mixed.bias);
  kernel::linear(mixed, kernel::transposed(layer.mixed.weights), {}, heads_);
  inputs_.each([&](int k) {
    const int first = inputs_.first(k), n = inputs_.length(k);
    const MatrixSpan columns = MatrixSpan(columns_).rows(first, n);
    const kernel::Attention in = attention(layer, l, k);
    const auto places = places_.gradients();  // as large as what attention() has made
    kernel::attention_backward(in, MatrixView(heads_).rows(first, n), how_.attention,
                               {queries_of(shape_, columns), keys_of(shape_, columns),
                                values_of(shape_, columns), places.first, places.second},
                               fused);
  });
  if (inputs_.count() == 1 && how_.attention.scores != 0)
    places_.backward(l, queries_of(shape_, MatrixSpan(columns_)),
                     keys_of(shape_, MatrixSpan(columns_)));
  place_backward(shape_, layer, angles_of(layer), how_, rows_of(state_->before), columns_);
  if (!shape_.norm_first || layer.attention_norm.weight.empty())
    return project_backward(shape_, layer, how_, columns_, kernel::Into::add, gradient);
  project_backward(shape_, layer, how_, columns_, kernel::Into::store, wide_);
  apply_norm_backward(shape_, layer.attention_norm, input, how_, wide_, kernel::Into::add,
                      gradient);
}

void Backward::put_head_shares(std::span<float> shares) const {
  for (int h = 0; h < shape_.heads; ++h) {
    double sum = 0;
    for (int t = 0; t < heads_.rows(); ++t)
      for (int d = h * shape_.head_size; d < (h + 1) * shape_.head_size; ++d)
        sum += double{state_->mixed(t, d)} * heads_(t, d);
    shares[static_cast<size_t>(h)] = static_cast<float>(sum);
  }
}

}  // namespace headwater
