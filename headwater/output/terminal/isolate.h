// Right-to-left scripts next to numbers and other words.
#pragma once
#include <string>

namespace headwater {

/// The text, between the marks of a Unicode isolate if it has a right-to-left letter: a terminal
/// that reorders such words then leaves their neighbours in place.
std::string isolated(std::string text);

}  // namespace headwater
