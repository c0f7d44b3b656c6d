// One block's derivative, part by part from the end. A short forward pass keeps everything that the
// derivative needs. A long one keeps only one matrix a block: its input, or the sum before its last
// norm. The block then runs again, as far as the derivative needs.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "headwater/kernel/backward.h"
#include "headwater/model/after_attention.h"
#include "headwater/model/forward.h"
#include "headwater/model/layer_state.h"
#include "headwater/model/model.h"
#include "headwater/model/places.h"
#include "headwater/model/propagation.h"
#include "headwater/model/segments.h"

namespace headwater {

/// Borrows the model and `how`. Memory: about n x (5 width + 5 queries + 2 inner) floats, or half
/// of it if all layers are kept.
class Backward {
 public:
  Backward(const Model& model, int n, Propagation& how);
  /// Several inputs, as in Forward.
  Backward(const Model& model, std::vector<int> lengths, Propagation& how);

  /// Differentiates layer l, whose input was `input` and whose Forward::step gave `sum`; both n x
  /// width. `kept` is the state that step() saved, for at least as many rows, or null: then the
  /// layer runs again. `gradient` holds that of the layer's output, and gets that of its input. A
  /// map in `fused` gets attention (x) gradient, or its positive part, with the heads fused.
  void layer(int l, MatrixView input, MatrixView sum, const LayerState* kept, MatrixSpan gradient,
             const kernel::HeadMap& fused);

  /// The share of each head of the last layer: the sum over all rows of the head's output times the
  /// gradient of that output, which is also the sum of attention (x) gradient.
  void put_head_shares(std::span<float> shares) const;

 private:
  /// Back through what follows attention, to `heads_` and the gradient before it.
  void after_backward(const LayerWeights& layer, MatrixSpan gradient);
  void attend_backward(const LayerWeights& layer, int l, MatrixView input, MatrixSpan gradient,
                       const kernel::HeadMap& fused);
  /// The first rows, as many as are differentiated.
  MatrixView rows_of(const Matrix& x) const {
    return x.rows() == 0 ? x : MatrixView(x).rows(0, inputs_.rows());
  }
  /// That of input k in layer l.
  kernel::Attention attention(const LayerWeights& layer, int l, int k);
  const std::optional<Angles>& angles_of(const LayerWeights& layer) const {
    return window_angles_ && layer.window > 0 ? window_angles_ : angles_;
  }

  const Model& model_;
  const Architecture& shape_;
  Propagation& how_;
  std::optional<Angles> angles_, window_angles_;
  Segments inputs_;
  std::optional<Forward> again_;
  LayerState own_;  // of a layer that ran again
  const LayerState* state_ = nullptr;
  AfterAttention after_;
  std::map<int, Matrix> distances_;  // what they add to scores, by length
  PlaceScores places_;               // the same by query and by key, for one input
  Matrix columns_, heads_;           // gradients
};

}  // namespace headwater
