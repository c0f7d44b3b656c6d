#include "tests/support/test_data.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/bytes.h"

namespace headwater::test {
namespace {

constexpr const char* hint =
    "\nIf the change is right, run the test with HEADWATER_RENEW=1, look at the difference and "
    "commit it.";

}  // namespace

std::string test_data(const std::string& name) {
  return std::string(HEADWATER_TEST_DATA "/") + name;
}

void expect_recorded(const std::string& name, const std::string& text) {
  const std::string path = test_data(name);
  if (std::getenv("HEADWATER_RENEW")) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  if (!std::filesystem::exists(path)) {
    ADD_FAILURE() << "tests/" << name << " is not there" << hint;
    return;
  }
  // The first line that differs: whole files would hide it.
  std::istringstream recorded(read_file(path)), now(text);
  std::string before, after;
  for (int line = 1;; ++line) {
    const bool more_before = !std::getline(recorded, before).fail();
    const bool more_after = !std::getline(now, after).fail();
    if (!more_before && !more_after) return;
    if (more_before && more_after && before == after) continue;
    ADD_FAILURE() << "tests/" << name << ", line " << line << ": expected\n  "
                  << (more_before ? before : "the end") << "\nbut found\n  "
                  << (more_after ? after : "the end") << hint;
    return;
  }
}

}  // namespace headwater::test
