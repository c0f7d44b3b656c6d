// Weights that are not valid, and the two ways to accept them anyway.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/open.h"
#include "tests/support/attention.h"
#include "tests/support/build_npy.h"
#include "tests/support/build_zip.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// One number wrong at layer 1, head 1, row 2, column 3 of two layers, two heads, five tokens.
class BadNumbers : public testing::TestWithParam<std::tuple<DType, bool, bool>> {
 protected:
  std::string file_with(double value) {
    const auto [type, deflated, fortran] = GetParam();
    Attention attention = random_attention(2, 1, 2, 5, 41);
    attention.at(1, 0, 1, 2, 3) = value;
    return folder_.write(
        "a.npz",
        zip({{"a.npy", npy(type, {2, 2, 5, 5}, attention.values, {1, fortran}), deflated}}));
  }
  Folder folder_;
};

TEST_P(BadNumbers, AreNamedByLayerHeadRowAndColumn) {
  const std::string place = "layer 1, head 1, row 2";
  expect_bad_file(file_with(std::nan("")), {place, "nan in column 3", "`nan` identity"});
  expect_bad_file(file_with(infinity), {place, "inf in column 3"});
  expect_bad_file(file_with(-infinity), {place, "-inf in column 3"});
  expect_bad_file(file_with(-0.25), {place, "-0.25 in column 3"});
  expect_bad_file(file_with(1.5), {place, "sums to", "expected 1", "`sums` any"});
}

TEST_P(BadNumbers, BecomeTheIdentitysRowIfAsked) {
  ReadOptions options;
  options.nan_identity = true;
  const Attention clean = random_attention(2, 1, 2, 5, 41);
  for (double value : {std::nan(""), infinity, -0.25}) {
    const auto source = open(file_with(value), {.read = options});
    const std::vector<Matrix> maps = maps_of(*source, Fuse::mean, Direction::down);
    for (int j = 0; j < 5; ++j) {
      EXPECT_FLOAT_EQ(maps[1](2, j), static_cast<float>((clean.at(1, 0, 0, 2, j) + (j == 2)) / 2));
      EXPECT_FLOAT_EQ(maps[1](1, j),
                      static_cast<float>((clean.at(1, 0, 0, 1, j) + clean.at(1, 0, 1, 1, j)) / 2));
    }
    ASSERT_EQ(source->notes().size(), 1u);
    EXPECT_NE(source->notes()[0].find("1 row(s)"), std::string::npos) << source->notes()[0];
    maps_of(*source, Fuse::one(0));
    EXPECT_TRUE(source->notes().empty()) << "the other head has no bad row";
  }
  // Sums are another matter.
  expect_bad_file(file_with(1.5), {"sums to"}, options);
}

TEST_P(BadNumbers, MayHaveAnySumIfAsked) {
  ReadOptions options;
  options.any_sums = true;
  const auto source = open(file_with(1.5), {.read = options});
  EXPECT_EQ(maps_of(*source, Fuse::one(1))[1](2, 3), 1.5f);
  EXPECT_TRUE(source->notes().empty());
  expect_bad_file(file_with(std::nan("")), {"nan"}, options);
  expect_bad_file(file_with(-0.25), {"-0.25"}, options);
}

INSTANTIATE_TEST_SUITE_P(All, BadNumbers,
                         testing::Combine(testing::Values(DType::f16, DType::bf16, DType::f32,
                                                          DType::f64),
                                          testing::Bool(), testing::Bool()));

TEST(RowSums, MayBeOffByAHundredthAndNoMore) {
  const Folder folder;
  for (double off : {0.0099, -0.0099})
    EXPECT_NO_THROW(
        read_through(folder.write("a.npy", npy(DType::f64, {2, 2}, {1, 0, 0.5, 0.5 + off}))));
  for (double off : {0.0101, -0.0101, -1.0})
    expect_bad_file(folder.write("a.npy", npy(DType::f64, {2, 2}, {1, 0, 0.5, 0.5 + off})),
                    {"layer 0, head 0, row 1"});
}

TEST(RowSums, MayBeHugeWhereAnySumIsTaken) {
  const Folder folder;
  ReadOptions options;
  options.any_sums = true;
  const double large = 3e38;  // the sum does not fit into a float, each weight does
  const auto path = folder.write("a.npy", npy(DType::f32, {2, 2}, {large, large, 0, 0}));
  const auto source = open(path, {.read = options});
  EXPECT_EQ(maps_of(*source)[0](0, 1), 3e38f);
  const auto beyond = folder.write("b.npy", npy(DType::f64, {2, 2}, {1e300, 0, 0, 1}));
  expect_bad_file(beyond, {"inf in column 0"}, options);
}

TEST(Heads, ThatAreNotThereAreAnError) {
  const Folder folder;
  const Attention attention = random_attention(2, 1, 3, 2, 42);
  const auto source = open(folder.write("a.npy", npy(DType::f32, {2, 3, 2, 2}, attention.values)));
  for (int head : {3, -4, 1 << 30, std::numeric_limits<int>::min()})
    expect_error(Error::Kind::work, {"a.npy", "layer 0 has no head", "expected 0 to 2"},
                 [&] { maps_of(*source, Fuse::one(head)); });
}

}  // namespace
}  // namespace headwater::test
