// What all methods do first and last: say what they were asked, and what happened.
#pragma once
#include <string>

#include "headwater/layer/layers.h"
#include "headwater/result/attribution.h"

namespace headwater {

/// A result without values: method, options, source and the rows asked for.
Attribution new_result(std::string method, const Layers& layers, const Options& options);

/// Adds notes and timing, once the values are there. `seconds` is what the whole method took.
void complete(Attribution& result, const Layers& layers, double seconds);

/// The rows asked for, out of the whole matrix `all`, or their mean.
Matrix take_rows(MatrixView all, const Attribution& result);

}  // namespace headwater
