// An evaluation as curves.
#pragma once
#include "headwater/output/picture/figure.h"

namespace headwater {

/// A panel for each reference, with a curve a method: correlation by layer. If the truth is known,
/// a panel with how often the top token is true. If requested, a panel with the perturbation
/// curves.
Curves curves_of(const Evaluation& result);

/// Source, file, numbers of examples and of tokens that count, layers: a few words each.
std::vector<std::string> details_of(const Evaluation& result);

}  // namespace headwater
