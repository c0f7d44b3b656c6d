// An evaluation as curves.
#pragma once
#include "headwater/output/picture/figure.h"

namespace headwater {

/// A panel for each reference: correlation by layer, a curve a method; where the truth is known,
/// one more: how often the top token is a true one; and the perturbation curves, where they were
/// asked for.
Curves curves_of(const Evaluation& result);

/// Source, file, numbers of examples and of tokens that count, layers, each a few words.
std::vector<std::string> details_of(const Evaluation& result);

}  // namespace headwater
