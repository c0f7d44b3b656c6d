// The maps of all layers, for a page that can change which of them count.
#pragma once
#include <vector>

#include "headwater/result/attribution.h"
#include "headwater/source/source.h"

namespace headwater {

/// The fused map of each layer of the result. Reads the source once more.
std::vector<Matrix> maps_of(Source& source, const Attribution& result);

}  // namespace headwater
