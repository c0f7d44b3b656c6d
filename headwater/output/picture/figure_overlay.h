// What an overlay shows: the attribution of a vision model's patches, each at its place.
#pragma once
#include <string>

#include "headwater/output/picture/figure.h"

namespace headwater {

/// Whether the result's tokens are patches of an image that can be drawn on.
bool has_overlay(const Attribution& result);
/// Whether all panels are, and of the same image.
bool has_overlay(const Comparison& result);

/// Row `r` of the result, a panel for each of its matrices. Values that are not finite, and patches
/// that the filter leaves out, become NaN. Throws Error, which names `path`, where it leaves none.
Overlay overlay_of(const Attribution& result, int r, const Filter& filter, const std::string& path);
/// Row `r` of each panel.
Overlay overlay_of(const Comparison& result, int r, const Filter& filter, const std::string& path);

}  // namespace headwater
