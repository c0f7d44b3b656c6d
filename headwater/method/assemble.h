// How every method starts and completes its result.
#pragma once
#include <string>

#include "headwater/layer/layers.h"
#include "headwater/result/attribution.h"

namespace headwater {

/// A result without values: method, options, source and the requested rows.
Attribution new_result(std::string method, const Layers& layers, const Options& options);

/// Adds notes and timing. Call it once the values are there; `seconds` is the time of the whole
/// method. Throws Error if a value is not a finite number.
void complete(Attribution& result, const Layers& layers, double seconds);

/// The requested rows of the whole matrix `all`, or their mean.
Matrix take_rows(MatrixView all, const Attribution& result);

}  // namespace headwater
