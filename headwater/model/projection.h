// Queries, keys and values of a block, side by side in one matrix: n x (heads + 2 groups) * size.
#pragma once
#include <optional>

#include "headwater/model/layer_weights.h"
#include "headwater/model/propagation.h"
#include "headwater/model/rope.h"

namespace headwater {

/// The columns of all three, and the parts for queries, keys and values.
int projected_columns(const Architecture& model);
MatrixSpan queries_of(const Architecture& model, MatrixSpan projected);
MatrixSpan keys_of(const Architecture& model, MatrixSpan projected);
MatrixSpan values_of(const Architecture& model, MatrixSpan projected);
MatrixView queries_of(const Architecture& model, MatrixView projected);
MatrixView keys_of(const Architecture& model, MatrixView projected);
MatrixView values_of(const Architecture& model, MatrixView projected);

/// Only the products: those of queries and keys, and then those of values. Weights that are packed
/// give all three with the first.
void project_scores(const Architecture& model, const LayerWeights& layer, MatrixView x,
                    MatrixSpan projected);
void project_values(const Architecture& model, const LayerWeights& layer, MatrixView x,
                    MatrixSpan projected);

/// Applies the norms of each head and the rotations by position, if the family has them.
void place(const Architecture& model, const LayerWeights& layer,
           const std::optional<Angles>& angles, MatrixSpan projected);

/// Attention of the rows to each other.
kernel::Attention attention_of(const Architecture& model, const LayerWeights& layer,
                               MatrixView projected);

/// gradient = (or +=) that of x, given that of project()'s output, whose columns it may reorder. If
/// `how` gives scores no gradient, those of queries and keys count as 0 and may be overwritten.
void project_backward(const Architecture& model, const LayerWeights& layer, Propagation& how,
                      MatrixSpan projected, kernel::Into into, MatrixSpan gradient);

/// `before` is what place() was called with. Replaces the gradient of place()'s output by that of
/// `before`.
void place_backward(const Architecture& model, const LayerWeights& layer,
                    const std::optional<Angles>& angles, Propagation& how, MatrixView before,
                    MatrixSpan gradient);

}  // namespace headwater
