// .npz files with one thing wrong.
#include <gtest/gtest.h>

#include "headwater/open.h"
#include "tests/support/build_npy.h"
#include "tests/support/build_zip.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

const Bytes array = npy(DType::f32, {2, 2}, {1, 0, 0.5, 0.5});

class BadNpz : public testing::Test {
 protected:
  void expect_bad(const std::vector<ZipEntry>& entries, std::vector<std::string> parts,
                  const ZipEnd& end = {}) {
    expect_bad_file(folder_.write("a.npz", zip(entries, end)), std::move(parts));
  }
  Folder folder_;
};

TEST_F(BadNpz, IsABomb) {
  // What 42.zip does: a small member that claims the world.
  ZipEntry claim{"a.npy", array, true};
  claim.size = uint64_t{1} << 40;
  claim.zip64 = true;
  expect_bad({claim}, {"'a.npy'", "claims 1099511627776 bytes", "1032", "zip bomb"});
  // Zeros that are really there: the first row is no attention, and nothing else is inflated.
  const int64_t n = 6000;
  const Bytes zeros = npy_header("'<f4'", {n, n}) + Bytes(static_cast<size_t>(n * n * 4), '\0');
  expect_bad({{"a.npy", zeros, true}}, {"layer 0, head 0, row 0 sums to 0"});
}

TEST_F(BadNpz, HasTokensOrAMaskOfAnotherSize) {
  const int64_t count = 5'000'000;
  const Bytes words = npy_header("'<U1'", {count}) + Bytes(static_cast<size_t>(count * 4), '\0');
  expect_bad({{"a.npy", array}, {"tokens.npy", words, true}},
             {"tokens", "[5000000]", "expected one token"});
  const Bytes mask = npy_header("'|u1'", {count}) + Bytes(static_cast<size_t>(count), '\1');
  expect_bad({{"a.npy", array}, {"attention_mask.npy", mask, true}},
             {"attention_mask", "[5000000]", "expected [2]"});
}

TEST_F(BadNpz, IsEncryptedOrCompressedInAnotherWay) {
  ZipEntry entry{"a.npy", array};
  entry.flags = 1;
  expect_bad({entry}, {"'a.npy' is encrypted", "password"});
  entry = {"a.npy", array};
  entry.method = 12;
  expect_bad({entry}, {"method 12", "stored or deflated"});
}

TEST_F(BadNpz, HasNamesThatLeadAwayOrCarryMoreThanAName) {
  for (const char* name : {"../a.npy", "x/../a.npy", "/a.npy", "x\\a.npy", "..", "", "a/.."})
    expect_bad({{name, array}}, {"member named", "plain name"});
  EXPECT_NO_THROW(read_through(folder_.write("b.npz", zip({{"x..y/a.npy", array}}))));
  expect_bad({{"a.txt", array}}, {"'a.txt'", "arrays (.npy) only"});
  expect_bad({{"a\nheadwater: all is well.txt", array}}, {"arrays (.npy) only"});
  expect_bad({{"\x1b[2J.txt", array}}, {"arrays (.npy) only"});
  expect_bad({{std::string(60000, 'x') + ".txt", array}}, {"xxx"});
}

TEST_F(BadNpz, HasMembersTwiceOrOnTopOfEachOther) {
  expect_bad({{"a.npy", array}, {"a.npy", array}}, {"two members named 'a.npy'"});
  ZipEntry other{"b.npy", array};
  other.local_at = 0;
  expect_bad({{"a.npy", array}, other}, {"'a.npy' and 'b.npy' overlap"});
  // An empty member in between must not hide it: its data begins inside a's.
  ZipEntry inner{"c.npy", array};
  const Bytes local_of_c = zip({inner}).substr(0, 30 + 5) + array;
  const ZipEntry outer{"a.npy", array + zip({{"b.npy", ""}}).substr(0, 30 + 5) + local_of_c};
  const uint64_t data = 30 + 5 + array.size();
  ZipEntry b{"b.npy", ""}, c{"c.npy", array};
  b.local_at = data;
  c.local_at = data + 35;
  expect_bad({outer, b, c}, {"overlap"});
}

TEST_F(BadNpz, HasAChecksumThatIsNotThatOfItsBytes) {
  ZipEntry entry{"a.npy", array, true};
  entry.checksum = 1;
  expect_bad({entry}, {"array 'a'", "checksum", "expected 00000001", "damaged"});
  Bytes turned = array;
  turned[turned.size() - 2] ^= 1;  // one bit of the last number
  entry = {"a.npy", turned, true};
  const Bytes good = zip({{"a.npy", array, true}});
  uint32_t checksum;
  std::memcpy(&checksum, good.data() + 14, 4);
  entry.checksum = checksum;
  expect_bad({entry}, {"checksum"});
}

TEST_F(BadNpz, HoldsMoreOrLessThanItClaims) {
  ZipEntry entry{"a.npy", array + Bytes(10, '\0'), true};
  entry.size = array.size();
  expect_bad({entry}, {"continues past"});
  entry = {"a.npy", array};
  entry.size = array.size() + 1;
  expect_bad({entry}, {"stored in", "expected"});
  entry = {"a.npy", array};
  entry.packed = entry.size = array.size() + 1000;
  expect_bad({entry}, {"past the end"});
  entry = {"a.npy", Bytes(array.size(), '\xff')};
  entry.method = 8;
  expect_bad({entry}, {"damaged at byte"});
}

TEST_F(BadNpz, HasADirectoryThatPointsElsewhere) {
  expect_bad({{"a.npy", array}}, {"damaged", "member 1 of 2"}, {"", false, 2, {}});
  expect_bad({{"a.npy", array}}, {"directory"}, {"", true, uint64_t{1} << 60, {}});
  expect_bad({{"a.npy", array}}, {"past the end"}, {"", true, {}, ~uint64_t{0}});
  expect_bad({{"a.npy", array}}, {"past the end"}, {"", false, {}, 0x7fffffff});
  expect_bad({{"a.npy", array}}, {"directory"}, {"", false, {}, 3});
  ZipEntry entry{"a.npy", array};
  entry.zip64 = true;
  for (uint64_t place : {~uint64_t{0}, ~uint64_t{0} - 40, uint64_t{1} << 63}) {
    entry.local_at = place;
    expect_bad({entry}, {"past the end"});
  }
  entry.local_at = 1;
  expect_bad({entry}, {"not at byte 1"});
  Bytes split = zip({{"a.npy", array}});
  split[split.size() - 22 + 4] = 1;
  expect_bad_file(folder_.write("a.npz", split), {"split"});
}

TEST_F(BadNpz, HoldsNothing) {
  expect_bad({}, {"no attention"});
  expect_bad({{"tokens.npy", npy_words({2}, {"a", "b"})}}, {"no attention"});
  expect_bad({{"a.npy", ""}}, {"array 'a'", "NUMPY"});
}

TEST_F(BadNpz, HasLayersThatDoNotAgree) {
  const Bytes three = npy(DType::f32, {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  expect_bad({{"0.npy", array}, {"1.npy", three}}, {"array '1'", "3 tokens", "expected 2"});
  const Bytes two_items = npy(DType::f32, {2, 1, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  expect_bad({{"0.npy", array}, {"1.npy", two_items}}, {"array '1'", "2 items"});
  expect_bad({{"0.npy", array}, {"1.npy", npy(DType::f32, {2, 1}, {1, 1})}},
             {"array '1'", "2 x 1"});
  expect_bad({{"0.npy", array}, {"1.npy", npy(DType::i64, {2}, {1, 1})}},
             {"array '1'", "type i64", "leave out"});
  expect_bad({{"0.npy", array}, {"1.npy", npy(DType::f32, {1, 1, 1, 2, 2}, {1, 0, 0, 1})}},
             {"array '1'", "5 axes", "[B, H, n, n]"});
  ReadOptions options;
  options.axes = "Lnn";
  const Bytes cube = npy(DType::f32, {1, 2, 2}, {1, 0, 0, 1});
  expect_bad_file(folder_.write("a.npz", zip({{"0.npy", cube}, {"1.npy", cube}})),
                  {"one of 2 arrays", "leave L out"}, options);
}

}  // namespace
}  // namespace headwater::test
