// The parts of a relevance result besides the row of its target.
#pragma once
#include <string>

#include "headwater/result/attribution.h"

namespace headwater {

/// Tables for a terminal, each after an empty line: what each layer's output rests on, the share of
/// each head, and the largest edges; "" if none of them was asked for.
std::string relevance_tables(const Attribution& result);

}  // namespace headwater
