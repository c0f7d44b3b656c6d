// Which layers attend to a window of keys only.
#pragma once
#include <vector>

#include "headwater/model/config.h"

namespace headwater::family {

/// The windows of all layers that "layer_types" gives: `window` for sliding_attention, 0 for
/// full_attention; empty if there is no such entry. Throws Error for other types, for a list of
/// another length, and for a sliding layer if `window` is 0.
std::vector<int> windows_by_type(const Config& config, int layers, int window);

}  // namespace headwater::family
