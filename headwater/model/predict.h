// The prediction of a model, from its last hidden states.
#pragma once
#include <optional>

#include "headwater/core/range.h"
#include "headwater/model/model.h"
#include "headwater/source/description.h"
#include "headwater/source/prediction.h"

namespace headwater {

/// The rows of the last hidden states that the prediction depends on, often only a few. None for a
/// model without a classifier, and for a model of masked words unless there is exactly one mask.
std::optional<Range> deciding_rows(const Model& model, const Description& described);

/// Whether the model has an output at each token, so that one can ask about any of them.
bool is_for_each_token(const Model& model);

/// `finished` has those rows, or other rows of a model that has an output at each token, after
/// Model::finish.
Prediction predict(const Model& model, Range rows, MatrixView finished);

/// Fills in the head, its classes and outputs.
void describe_head(const Model& model, ModelFacts& facts);

}  // namespace headwater
