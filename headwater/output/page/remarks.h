// What a page says about its own numbers and layers: sentences that follow from what it holds.
#pragma once
#include <string>
#include <string_view>

#include "headwater/output/document.h"
#include "headwater/result/attribution.h"

namespace headwater {

/// How exact the numbers of packed() are, if a reader of the page should know; else empty.
std::string remark_on_digits(const Document& packed);

/// Why the page cannot recompute a result from its maps, for other layers or another residual;
/// empty if it can.
std::string why_fixed(const Attribution& result);

/// How the command that made one of the page_contents() can give it the layers that it lacks; empty
/// if there is no such command, or none are missing.
std::string how_to_get_layers(const Document& contents, std::string_view command);

}  // namespace headwater
