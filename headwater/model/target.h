// From the words for a target to a logit.
#pragma once
#include <string>

#include "headwater/model/classifier.h"
#include "headwater/source/description.h"
#include "headwater/source/gradient.h"

namespace headwater {

/// `finished` is what Model::finish gave for the example. Throws Error where a class, a word, a row
/// or the place of a mask is not there, naming the nearest class.
Target choose_target(const Model& model, const Classifier& classifier, const Description& example,
                     const GradientRequest& request, MatrixView finished);

/// The id of a word among `words`: a number, or the word as it stands within a text, at its start,
/// or as the vocabulary spells it; "token:7" is the word 7. Throws Error if it is not one token.
int word_number(const Model& model, int words, const std::string& text);

/// Throws Error, as choose_target does, if the head gives classes and `text` is none of them:
/// known without running the model.
void check_class(const Model& model, const Classifier& classifier, const std::string& text);

}  // namespace headwater
