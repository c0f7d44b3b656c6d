#include "tests/support/hostile_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "headwater/core/error.h"
#include "headwater/core/stopwatch.h"
#include "tests/support/bytes.h"
#include "tests/support/test_data.h"

namespace headwater::test {
namespace {

constexpr double most_seconds = 1;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test_data(folder))) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".md" && ending != ".cpp" && ending != ".txt")
      names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string without(std::string text, const std::string& part) {
  for (size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
  return text;
}

}  // namespace

void expect_outcomes(const std::string& folder, const std::string& record,
                     const std::function<std::string(const std::string& path)>& read) {
  std::string all;
  for (const std::string& name : names_in(folder)) {
    SCOPED_TRACE(name);
    const Stopwatch watch;
    std::string outcome;
    try {
      outcome = name + ": accepted, " + read(test_data(folder + "/" + name));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::work) << error.what();
      outcome = without(error.what(), test_data(folder) + "/");
      if (!outcome.starts_with(name + ": ")) outcome = name + ": (not named) " + outcome;
    }
    EXPECT_LT(watch.seconds(), most_seconds);
    EXPECT_EQ(outcome.find('\n'), std::string::npos) << outcome;
    all += outcome + "\n";
  }
  expect_recorded(folder + "/" + record, all);
}

void expect_named_in_readme(const std::string& folder) {
  const Bytes readme = read_file(test_data(folder + "/README.md"));
  for (const std::string& name : names_in(folder))
    EXPECT_NE(readme.find("`" + name + "`"), std::string::npos) << name;
}

}  // namespace headwater::test
