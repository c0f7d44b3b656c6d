// The loader of CUDA kernels as a machine without a GPU sees it. The kernels themselves are tested
// from Python (tests/python_package/test_cuda_compile.py, test_gpu_rows.py).
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "headwater/kernel/cuda/cache.h"
#include "headwater/kernel/cuda/kernels.h"
#include "headwater/kernel/cuda/library.h"
#include "headwater/kernel/cuda/sources.h"
#include "tests/support/expect_error.h"

namespace headwater::kernel::cuda {
namespace {

namespace fs = std::filesystem;

// A cache of its own for each test.
class CudaCache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    setenv("HEADWATER_CACHE", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("HEADWATER_CACHE");
    fs::remove_all(folder_);
  }
  std::string ask(const std::string& key) {
    return cached(key, [&] {
      ++made_;
      return "code of " + key;
    });
  }
  fs::path only_file() const { return fs::directory_iterator(folder_)->path(); }

  fs::path folder_;
  int made_ = 0;
};

TEST_F(CudaCache, CompilesOnceForEachKey) {
  EXPECT_EQ(ask("row sm_90"), "code of row sm_90");
  EXPECT_EQ(ask("row sm_90"), "code of row sm_90");
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(ask("row sm_80"), "code of row sm_80");
  EXPECT_EQ(made_, 2);
}

TEST_F(CudaCache, AFileThatWasChangedOrCutIsMadeAnew) {
  ask("key");
  std::string bytes;
  {
    std::ifstream file(only_file(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  for (const std::string& broken :
       {bytes.substr(0, bytes.size() - 1), bytes + "x", std::string(), std::string("\n\n\n"),
        bytes.substr(0, 10), bytes.substr(0, bytes.size() - 1) + "?"}) {
    std::ofstream(only_file(), std::ios::binary) << broken;
    const int before = made_;
    EXPECT_EQ(ask("key"), "code of key");
    EXPECT_EQ(made_, before + 1) << broken.size();
  }
}

TEST_F(CudaCache, AnotherKeysFileIsNotTaken) {
  ask("one");
  const fs::path one = only_file();
  ask("two");
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path() != one) fs::copy_file(one, entry.path(), fs::copy_options::overwrite_existing);
  EXPECT_EQ(ask("two"), "code of two");
  EXPECT_EQ(made_, 3);
}

TEST_F(CudaCache, AFolderThatCannotBeMadeIsNoError) {
  std::ofstream(folder_) << "a file in its place";
  EXPECT_EQ(ask("key"), "code of key");
  EXPECT_EQ(ask("key"), "code of key");
  EXPECT_EQ(made_, 2);
}

TEST(Cuda, ALibraryThatIsMissingIsASentence) {
  test::expect_error(Error::Kind::work, {"the compiler: could not be opened", "libnothing.so"},
                     [] { Library("the compiler", {"libnothing.so"}); });
}

TEST(Cuda, WhatIsMissingIsSaidAndNotThrown) {
  const Status found = status(0);
  EXPECT_FALSE(found.why.empty());
}

TEST(Cuda, ChipsAreNamedAsTheCompilerNamesThem) {
  EXPECT_EQ(chip_of({"A100", 8, 0, 108, 0}), "sm_80");
  EXPECT_EQ(chip_of({"H200", 9, 0, 132, 0}), "sm_90a");
  EXPECT_EQ(chip_of({"B200", 10, 0, 148, 0}), "sm_100");
}

TEST(Cuda, EverySourceIsThere) {
  bool row = false;
  for (const Source& one : sources()) {
    EXPECT_GT(std::string(one.text).size(), 100u) << one.name;
    row = row || std::string(one.name) == "row.cu";
  }
  EXPECT_TRUE(row);
}

}  // namespace
}  // namespace headwater::kernel::cuda
