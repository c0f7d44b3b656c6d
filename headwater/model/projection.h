// Queries, keys and values of a block, side by side in one matrix: n x (heads + 2 groups) * size.
#pragma once
#include <optional>

#include "headwater/model/layer_weights.h"
#include "headwater/model/rope.h"

namespace headwater {

/// Columns of all three, and where keys and values begin.
int projected_columns(const Architecture& model);
MatrixSpan queries_of(const Architecture& model, MatrixSpan projected);
MatrixSpan keys_of(const Architecture& model, MatrixSpan projected);
MatrixSpan values_of(const Architecture& model, MatrixSpan projected);

/// The products alone.
void project(const Architecture& model, const LayerWeights& layer, MatrixView x,
             MatrixSpan projected);

/// Norms of each head and turns by positions, where the family has them.
void place(const Architecture& model, const LayerWeights& layer,
           const std::optional<Angles>& angles, MatrixSpan projected);

/// Attention of the rows among themselves.
kernel::Attention attention_of(const Architecture& model, const LayerWeights& layer,
                               MatrixSpan projected);

/// gradient = (or +=) that of x, given that of what project() made.
void project_backward(const Architecture& model, const LayerWeights& layer, MatrixSpan projected,
                      kernel::Into into, MatrixSpan gradient);

/// `before` is what place() was called with. The gradient of what it made becomes that of `before`.
void place_backward(const Architecture& model, const LayerWeights& layer,
                    const std::optional<Angles>& angles, MatrixSpan before, MatrixSpan gradient);

}  // namespace headwater
