// Words as a shell reads them back.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// The word, in quotes if a shell would read it as anything but itself.
std::string quoted(std::string_view word);

}  // namespace headwater
