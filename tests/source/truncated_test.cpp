// A file that is cut short anywhere is an error, in every format.
#include <gtest/gtest.h>

#include "headwater/open.h"
#include "tests/support/attention.h"
#include "tests/support/build_npy.h"
#include "tests/support/build_safetensors.h"
#include "tests/support/build_zip.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

void expect_errors_when_cut(const std::string& name, const Bytes& whole) {
  const Folder folder;
  EXPECT_NO_THROW(read_through(folder.write(name, whole)));
  for (size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    expect_bad_file(folder.write(name, whole.substr(0, size)), {});
    if (testing::Test::HasFailure()) return;
  }
}

const std::vector<double> maps = {1, 0, 0.5, 0.5, 0.25, 0.75, 0, 1};

TEST(CutShort, NpyIsAnError) {
  expect_errors_when_cut("a.npy", npy(DType::f32, {2, 2, 2}, maps));
  expect_errors_when_cut("a.npy", npy(DType::f16, {2, 2, 2}, maps, {2, true}));
}

TEST(CutShort, NpzIsAnError) {
  const Bytes array = npy(DType::f32, {2, 2, 2}, maps);
  const Bytes words = npy_words({2}, {"a", "b"}), mask = npy(DType::i64, {2}, {1, 1});
  expect_errors_when_cut("a.npz", zip({{"a.npy", array}}));
  expect_errors_when_cut("a.npz", zip({{"a.npy", array, true}, {"tokens.npy", words, true}}));
  expect_errors_when_cut("a.npz", zip({{"a.npy", array, true, true}, {"attention_mask.npy", mask}},
                                      {"end", true, {}, {}}));
}

TEST(CutShort, SafetensorsIsAnError) {
  expect_errors_when_cut("a.safetensors", safetensors({{"a", DType::f32, {2, 2, 2}, maps}},
                                                      R"({"tokens":"[\"a\",\"b\"]"})"));
}

TEST(CutShort, JsonIsAnError) {
  expect_errors_when_cut("a.json", R"({"tokens": ["a", "b"], "attentions": [[1, 0], [0.5, 0.5]]})");
}

TEST(CutShort, DeflatedNumbersAreAnError) {
  // The directory is whole; what is missing is the end of the stream.
  const Folder folder;
  Attention attention = random_attention(2, 1, 2, 9, 31, Weights::smooth);
  const Bytes array = npy(DType::f32, {2, 2, 9, 9}, attention.values);
  const Bytes packed = deflate_bytes(array);
  for (size_t size = 0; size < packed.size(); size += 7) {
    SCOPED_TRACE(size);
    ZipEntry entry{"a.npy", packed.substr(0, size)};
    entry.method = 8;
    entry.size = array.size();
    expect_bad_file(folder.write("a.npz", zip({entry})), {"'a"});
  }
}

}  // namespace
}  // namespace headwater::test
