// Every file in this folder is read to its end or refused with an Error; never anything else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "headwater/core/stopwatch.h"
#include "headwater/open.h"
#include "tests/support/bytes.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

std::vector<std::filesystem::path> hostile_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(HEADWATER_TEST_DATA "/hostile"))
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".md")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(HostileFiles, AreRefusedOrReadAndNothingElse) {
  ASSERT_FALSE(hostile_files().empty());
  for (const auto& file : hostile_files()) {
    SCOPED_TRACE(file);
    for (bool lenient : {false, true}) {
      ReadOptions options;
      options.any_sums = options.nan_identity = lenient;
      const Stopwatch watch;
      try {
        read_through(file.string(), options);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Error::Kind::work) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
      EXPECT_LT(watch.seconds(), 1);
    }
  }
}

TEST(HostileFiles, AreEachNamedInTheReadme) {
  const Bytes readme = read_file(HEADWATER_TEST_DATA "/hostile/README.md");
  for (const auto& file : hostile_files())
    EXPECT_NE(readme.find("`" + file.filename().string() + "`"), std::string::npos) << file;
}

}  // namespace
}  // namespace headwater::test
