// The content of an overlay: the attribution of a vision model's patches, each in its place.
#pragma once
#include <string>

#include "headwater/output/picture/figure.h"

namespace headwater {

/// Whether the result's tokens are patches of an image that can be drawn on.
bool has_overlay(const Attribution& result);
/// Whether this holds for all panels, with the same image.
bool has_overlay(const Comparison& result);

/// Row `r` of the result, with a panel for each of its matrices. Values that are not finite, and
/// patches that the filter leaves out, become NaN. Throws Error, which names `path`, if none is
/// left.
Overlay overlay_of(const Attribution& result, int r, const Filter& filter, const std::string& path);
/// Row `r` of each panel.
Overlay overlay_of(const Comparison& result, int r, const Filter& filter, const std::string& path);

}  // namespace headwater
