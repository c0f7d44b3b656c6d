// Finds the logit that a target names.
#pragma once
#include <string>

#include "headwater/model/model.h"
#include "headwater/model/output_head.h"
#include "headwater/source/description.h"
#include "headwater/source/gradient.h"

namespace headwater {

/// `finished` is the output of Model::finish for the example. Throws Error if the class, word, row
/// or mask does not exist; for a class, it names the nearest one.
Target choose_target(const Model& model, const OutputHead& head, const Description& described,
                     const TargetRequest& request, MatrixView finished);

/// The name of a logit: of its class or word, or "start:ROW", "end:ROW".
std::string logit_name(const Model& model, const OutputHead& head, int row, int id);

/// The id of a word among `words`: a number, or the word as spelt within a text, at its start, or
/// in the vocabulary; "token:7" is the word 7. Throws Error if it is not a single token.
int word_number(const Model& model, int words, const std::string& text);

/// Throws Error, as choose_target does, if the head has classes and `text` is not one of
/// them. Does not run the model.
void check_class(const Model& model, const OutputHead& head, const std::string& text);

}  // namespace headwater
