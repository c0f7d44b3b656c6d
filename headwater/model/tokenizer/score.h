// The scores of a unigram vocabulary.
#pragma once
#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// A JSON number as the package reads it: its digits as an integer, then one division or product by
/// a power of ten. That may be one unit in the last place off the nearest double, and the path
/// through a word may depend on it.
double read_score(std::string_view number);

/// The numbers of "model"."vocab", a list of [token, number]. Throws Error naming `what`.
std::vector<double> read_scores(const simdjson::padded_string& file, const std::string& what);

}  // namespace headwater
