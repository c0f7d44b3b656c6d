// What a block does after its attention: it mixes the heads' outputs, adds them, and runs its
// feed-forward half; and the derivative of that. Rows do not see each other here, so this runs for
// all rows of a layer or for a few, with the same bytes for each.
#pragma once
#include "headwater/model/layer_state.h"
#include "headwater/model/model.h"
#include "headwater/model/propagation.h"

namespace headwater {

/// Borrows the model. Memory: rows x (width + inner) floats.
class AfterAttention {
 public:
  AfterAttention(const Model& model, int rows);

  /// Parts of `state` that have rows get what the derivative needs. `hidden` is the block's input,
  /// to which this adds the mixed heads, with the norm of this half.
  void mix(const LayerWeights& layer, MatrixView mixed, LayerState& state, MatrixSpan hidden);
  /// Then, the feed-forward half up to its activation, of the input `hidden`.
  void feed(const LayerWeights& layer, LayerState& state, MatrixView hidden);
  /// Then, the rest of it, added to `hidden`: the block's output, before a norm at its end.
  void add_fed(const LayerWeights& layer, LayerState& state, MatrixSpan hidden);

  /// hidden += scale * norm(linear(x)), without the parts that the model does not have.
  /// `before_norm` gets linear(x) if it has rows and there is a norm.
  void add(const LinearWeights& linear, MatrixView x, const Vector& scale, const NormWeights& norm,
           MatrixSpan before_norm, MatrixSpan hidden);

  /// Room for rows x width numbers. The next call overwrites it.
  MatrixSpan spare() { return wide_; }

  /// Back through feed() and add_fed(): `gradient` is that of the block's output, and becomes that
  /// of what mix() added to. `spare`, if there is one, is the same state, which may be overwritten.
  void feed_backward(const LayerWeights& layer, const LayerState& state, LayerState* spare,
                     Propagation& how, MatrixSpan gradient);
  /// Back through the product of mix(): `heads` gets the gradient of `mixed`, given that of what
  /// was added.
  void mix_backward(const LayerWeights& layer, const LayerState& state, Propagation& how,
                    MatrixView added, MatrixSpan heads);

 private:
  MatrixView scaled(MatrixView gradient, const Vector& scale);
  void feed_normed(const LayerWeights& layer, MatrixView x, LayerState& state);

  const Architecture& shape_;
  Matrix wide_, inner_;
  Matrix up_, gate_;  // of a kept state
};

}  // namespace headwater
