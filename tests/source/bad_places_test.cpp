// Names that do not lead to attention.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>

#include "headwater/core/mapped_file.h"
#include "headwater/method/info.h"
#include "headwater/open.h"
#include "headwater/source/file.h"
#include "tests/support/attention.h"
#include "tests/support/build_npy.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

TEST(Opening, AFileThatIsNotThereIsAnError) {
  for (const char* path : {"missing.npy", "/no/such/folder/a.npz"})
    expect_error(Error::Kind::work, {path, "does not exist", "check the name"},
                 [&] { open_batch(path); });
  for (const char* name : {"", "verb-numbr", "no/such/model"})
    expect_error(Error::Kind::work, {name, "does not exist", "the name of a model that ships"},
                 [&] { open_batch(name); });
}

TEST(Opening, AFolderIsAnError) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("a.npz"));
  expect_bad_file(folder.path("a.npz"), {"is a folder without config.json"});
  std::filesystem::create_directory(folder.path("model"));
  expect_bad_file(folder.path("model"), {"is a folder without config.json", "expected a model"});
}

TEST(Opening, APipeIsAnErrorAndIsNotWaitedFor) {
  const Folder folder;
  for (const char* name : {"a.npy", "a.npz", "a.safetensors", "a.json"}) {
    ASSERT_EQ(mkfifo(folder.path(name).c_str(), 0600), 0);
    expect_bad_file(folder.path(name), {"not a plain file"});
  }
}

TEST(Opening, AnEmptyFileIsAnError) {
  const Folder folder;
  for (const char* name : {"a.npy", "a.npz", "a.safetensors", "a.json"})
    expect_bad_file(folder.write(name, ""), {"is empty"});
}

TEST(Opening, AnUnknownEndingIsBadUsage) {
  const Folder folder;
  const auto near = folder.write("a.npx", "x");
  expect_error(Error::Kind::usage, {near, "did you mean '.np"}, [&] { open_batch(near); });
  for (const char* name : {"a", "a.parquet", "npy"}) {
    const auto path = folder.write(name, "x");
    expect_error(Error::Kind::usage, {path, ".npy, .npz, .safetensors, .json"},
                 [&] { open_batch(path); });
  }
}

TEST(Opening, AFileWithTheWrongEndingIsAnError) {
  const Folder folder;
  const Bytes good = npy(DType::f32, {1, 1}, {1});
  expect_bad_file(folder.write("a.npz", good), {"is a NumPy array"});
  expect_bad_file(folder.write("a.safetensors", good), {"is a NumPy array"});
  expect_bad_file(folder.write("a.json", good), {"is a NumPy array"});
}

TEST(Memory, WithoutArraysIsAnError) {
  expect_error(Error::Kind::work, {"mine: has no attention"}, [] { from_memory({}, "mine"); });
  const float one = 1;
  expect_error(Error::Kind::work, {"mine: array 0", "length 0"}, [&] {
    from_memory({{DType::f32, {0, 0}, &one}}, "mine");
  });
  expect_error(Error::Kind::work, {"mine", "type i32"}, [&] {
    from_memory({{DType::i32, {1, 1}, &one}}, "mine");
  });
}

TEST(Memory, OfMoreTokensThanTheMachineCanHoldIsAnError) {
  const int64_t n = int64_t{1} << 20;
  const size_t bytes = static_cast<size_t>(2 * n * n);
  void* zeros = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  const auto batch = from_memory({{DType::f16, {n, n}, zeros}}, "mine");
  const auto source = batch->item(0);
  expect_error(Error::Kind::work, {"mine"}, [&] { maps_of(*source); });
  munmap(zeros, bytes);
}

TEST(Infos, SayWhatASourceIs) {
  const Folder folder;
  const auto causal =
      folder.write("a.npy", npy(DType::f32, {2, 2, 2}, {1, 0, 0.5, 0.5, 0.5, 0.5, 1, 0}));
  const auto batch = open_batch(causal);
  const auto item = batch->item(0);
  const Info about = info(*batch, *item);
  EXPECT_TRUE(about.causal) << "the lowest layer is";
  EXPECT_EQ(about.source.kind, "file");
  EXPECT_EQ(about.source.name, causal);
  EXPECT_EQ(about.source.layers, 2);
  EXPECT_EQ(about.source.heads, (std::vector<int>{1, 1}));
  EXPECT_EQ(about.source.tokens, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(about.reading, batch->reading());
  EXPECT_FALSE(about.kernel.empty());
  const auto other = open_batch(folder.write("b.npy", npy(DType::f32, {2, 2}, {0.5, 0.5, 1, 0})));
  EXPECT_FALSE(info(*other, *other->item(0)).causal);
}

}  // namespace
}  // namespace headwater::test
