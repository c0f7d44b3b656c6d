// Files that lie beside the tests, and texts that are compared with them.
#pragma once
#include <string>

namespace headwater::test {

/// The path of tests/`name`.
std::string test_data(const std::string& name);

/// Expects the file tests/`name` to hold exactly `text`. Run with HEADWATER_RENEW=1 in the
/// environment, it writes the file instead: look at the difference before you commit it.
void expect_recorded(const std::string& name, const std::string& text);

}  // namespace headwater::test
