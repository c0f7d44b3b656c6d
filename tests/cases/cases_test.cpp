// Runs every .case file of this folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/case_file.h"
#include "tests/support/test_data.h"

namespace headwater::test {
namespace {

std::vector<std::string> case_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test_data("cases")))
    if (entry.path().extension() == ".case") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

class CaseFiles : public testing::TestWithParam<std::string> {};

TEST_P(CaseFiles, GiveWhatTheySay) {
  const std::vector<Case> cases = read_cases(GetParam());
  EXPECT_FALSE(cases.empty());
  for (const Case& one : cases) {
    SCOPED_TRACE(GetParam() + ":" + std::to_string(one.line));
    run_case(one);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CaseFiles, testing::ValuesIn(case_files()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace headwater::test
