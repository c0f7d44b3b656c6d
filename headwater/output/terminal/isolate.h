// Scripts that are read from the right beside numbers and other words.
#pragma once
#include <string>

namespace headwater {

/// The text as it is, or between the marks of a Unicode isolate if a letter in it is read from the
/// right: a terminal that turns such words around then leaves what is beside them in its place.
std::string isolated(std::string text);

}  // namespace headwater
