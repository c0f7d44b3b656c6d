// A convolution over neighbouring tokens, beside the first block (DeBERTa's xlarge and xxlarge):
//
//   x = norm(block(input) + activation(convolution(input)))
//
// There are no tokens before the first one and after the last one of an input: zeros are in their
// place.
#pragma once
#include <string>
#include <vector>

#include "headwater/model/layer_weights.h"
#include "headwater/model/propagation.h"

namespace headwater {

class Segments;

class Convolution {
 public:
  /// Requires that the architecture, which is borrowed, has one. Throws Error naming a tensor that
  /// is missing or does not have its shape.
  Convolution(const Architecture& model, const Checkpoint& checkpoint, const std::string& prefix);

  /// x is the block's output for the rows of `input`, and becomes the norm of the sum.
  void apply(MatrixView input, const Segments& inputs, MatrixSpan x) const;
  /// `gradient` holds that of apply()'s output, and gets that of the block's output x. Returns that
  /// of the input.
  Matrix backward(MatrixView input, MatrixView x, const Segments& inputs, Propagation& how,
                  MatrixSpan gradient) const;

 private:
  /// Before the activation.
  Matrix run(MatrixView input, const Segments& inputs) const;

  const Architecture& shape_;
  std::vector<kernel::Weights> groups_;  // each reads and writes its own part of the columns
  Vector bias_;
  NormWeights norm_;
};

}  // namespace headwater
