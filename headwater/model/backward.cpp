#include "headwater/model/backward.h"

#include <algorithm>

#include "headwater/model/convolution.h"
#include "headwater/model/norm.h"
#include "headwater/model/projection.h"
#include "headwater/model/some_rows.h"

namespace headwater {
namespace {

// For some of the rows. Inputs without any have length 0.
Propagation of_rows(const Propagation& how, const std::vector<int>& rows) {
  Propagation out = how;
  int first = 0;
  for (int& length : out.lengths) {
    const int end = first + length;
    length = static_cast<int>(std::ranges::lower_bound(rows, end) -
                              std::ranges::lower_bound(rows, first));
    first = end;
  }
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
      after_(model, inputs_.rows()),
      distances_(inputs_.distances(model)) {
  const int n = inputs_.rows(), queries = shape_.heads * shape_.head_size;
  if (shape_.rope) angles_ = inputs_.angles(*shape_.rope);
  if (shape_.window_rope) window_angles_ = inputs_.angles(*shape_.window_rope);
  if (inputs_.count() == 1) places_ = PlaceScores(model.places(), n);
  columns_ = Matrix(n, projected_columns(shape_));
  heads_ = Matrix(n, queries);
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
    apply_norm(shape_, layer.feed_norm, sum, after_.spare());
    beside = model_.convolution()->backward(input, after_.spare(), inputs_, how_, gradient);
  }
  if (!shape_.norm_first)
    apply_norm_backward(shape_, layer.feed_norm, sum, how_, gradient, kernel::Into::store,
                        gradient);
  after_backward(layer, gradient);
  attend_backward(layer, l, input, gradient, fused);
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

// A target is in one row of each input, so the last layer has few rows that are not zero.
void Backward::after_backward(const LayerWeights& layer, MatrixSpan gradient) {
  const bool keeps = state_ != &own_;
  const auto back = [&](AfterAttention& after, const LayerState& state, LayerState* own,
                        Propagation& how, MatrixSpan from, MatrixSpan heads) {
    // If both halves are parallel, both start from the gradient of the block's output.
    if (shape_.parallel) after.mix_backward(layer, state, how, from, heads);
    after.feed_backward(layer, state, own, how, from);
    if (!shape_.parallel) after.mix_backward(layer, state, how, from, heads);
  };
  const std::vector<int> rows = rows_with_numbers(gradient);
  if (static_cast<int>(rows.size()) == gradient.rows())
    return back(after_, *state_, keeps ? nullptr : &own_, how_, gradient, heads_);
  AfterAttention few(model_, static_cast<int>(rows.size()));
  LayerState state = state_->some_rows(rows);
  Propagation how = of_rows(how_, rows);
  Matrix some = chosen(gradient, rows), heads(some.rows(), heads_.columns());
  back(few, state, &state, how, some, heads);
  put_back(some, rows, gradient);
  put_alone(heads, rows, heads_);
  how_.biases = how.biases;
  how_.each = std::move(how.each);
}

void Backward::attend_backward(const LayerWeights& layer, int l, MatrixView input,
                               MatrixSpan gradient, const kernel::HeadMap& fused) {
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
  project_backward(shape_, layer, how_, columns_, kernel::Into::store, after_.spare());
  apply_norm_backward(shape_, layer.attention_norm, input, how_, after_.spare(), kernel::Into::add,
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
