// One block's derivative. Nothing of the forward pass is kept but one matrix a block (its input, or
// the sum that its last norm is taken of): the block is run again as far as its derivative needs
// it, which leaves out the last product, and differentiated part by part from its end.
#pragma once
#include <optional>

#include "headwater/kernel/backward.h"
#include "headwater/model/model.h"

namespace headwater {

/// Borrows the model. Memory: n x (6 width + 4 queries + 2 inner) floats or so.
class Backward {
 public:
  Backward(const Model& model, int n);

  /// Layer l, which took `input` and whose Forward::step gave `sum`; both n x width. `gradient`,
  /// that of what left the layer, becomes that of its input. A map in `fused` gets the positive
  /// part of attention (x) its gradient, heads joined.
  void layer(int l, MatrixView input, MatrixView sum, MatrixSpan gradient,
             const kernel::HeadMap& fused);

 private:
  void run(const LayerWeights& layer, MatrixView input);
  void feed_backward(const LayerWeights& layer, MatrixSpan gradient);
  void attend_backward(const LayerWeights& layer, MatrixView input, MatrixSpan gradient,
                       const kernel::HeadMap& fused);
  MatrixView scaled(MatrixView gradient, const Vector& scale);

  const Model& model_;
  const Architecture& shape_;
  std::optional<Angles> angles_;
  Matrix normed_, fed_;                    // what the two halves take
  Matrix before_, projected_, mixed_;      // queries, keys, values before and after place(); heads
  Matrix middle_;                          // the rows between the halves, before a norm there
  Matrix up_, gate_;                       // before the activation
  Matrix inner_, columns_, heads_, wide_;  // gradients
};

}  // namespace headwater
