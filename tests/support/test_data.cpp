#include "tests/support/test_data.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/bytes.h"

namespace headwater::test {

std::string test_data(const std::string& name) {
  return std::string(HEADWATER_TEST_DATA "/") + name;
}

void expect_recorded(const std::string& name, const std::string& text) {
  const std::string path = test_data(name);
  if (std::getenv("HEADWATER_RENEW")) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  const bool there = std::filesystem::exists(path);
  EXPECT_EQ(there ? read_file(path) : "", text)
      << "tests/" << name << (there ? " differs" : " is missing")
      << "; if the change is right, run the test with HEADWATER_RENEW=1 and commit the file";
}

}  // namespace headwater::test
