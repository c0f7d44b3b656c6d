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

std::string outcome_of(const std::string& folder, const std::string& name,
                       const std::function<std::string(const std::string& path)>& read) {
  const std::string place = test_data(folder) + "/";
  try {
    return name + ": accepted, " + read(place + name);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::work) << error.what();
    const std::string sentence = without(error.what(), place);
    return sentence.starts_with(name + ": ") ? sentence : name + ": (not named) " + sentence;
  }
}

}  // namespace

void expect_outcomes(const std::string& folder, const std::string& record,
                     const std::function<std::string(const std::string& path)>& read) {
  std::string all;
  for (const std::string& name : names_in(folder)) {
    SCOPED_TRACE(name);
    const Stopwatch watch;
    const std::string outcome = outcome_of(folder, name, read);
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
