// From the words for a target to a logit.
#pragma once
#include "headwater/model/head.h"
#include "headwater/source/gradient.h"
#include "headwater/source/source.h"

namespace headwater {

/// `finished` is what Model::finish gave for the example. Throws Error where a class, a word, a row
/// or the place of a mask is not there, naming the nearest class.
Target choose_target(const Model& model, const Head& head, const Example& example,
                     const GradientRequest& request, MatrixView finished);

/// Throws Error, as choose_target does, if the head gives classes and `text` is none of them:
/// known without running the model.
void check_class(const Model& model, const Head& head, const std::string& text);

}  // namespace headwater
