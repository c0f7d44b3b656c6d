#include "headwater/core/inflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <vector>

#include "headwater/core/error.h"
#include "tests/support/build_zip.h"
#include "tests/support/expect_error.h"

namespace headwater {
namespace {

using test::Bytes;

std::span<const std::byte> bytes_of(const Bytes& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

class Inflaters : public testing::Test {
 protected:
  Inflaters() {
    std::mt19937 bits(5);
    while (open_.size() < 3'000'000) open_ += static_cast<char>(bits() % 7 + bits() % 5);
    packed_ = test::deflate_bytes(open_);
    checksum_ = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(open_.data()), open_.size()));
  }
  Inflater whole() const { return {bytes_of(packed_), open_.size(), checksum_, "f"}; }
  void expect_read(Inflater& inflater, uint64_t offset, size_t count) const {
    std::vector<std::byte> out(count);
    inflater.read(offset, out);
    const auto expected = bytes_of(open_).subspan(offset, count);
    ASSERT_TRUE(std::equal(out.begin(), out.end(), expected.begin())) << offset;
  }
  Bytes open_, packed_;
  uint32_t checksum_;
};

TEST_F(Inflaters, ReadForwardsBackwardsAndAnywhere) {
  for (bool marked : {false, true}) {
    Inflater inflater = whole();
    constexpr uint64_t step = 300'000;
    if (marked)
      for (uint64_t at = 0; at < open_.size(); at += step) inflater.mark(at);
    for (uint64_t at = 0; at < open_.size(); at += step) expect_read(inflater, at, 1000);
    for (uint64_t at = 9 * step;; at -= step) {
      expect_read(inflater, at, step);
      if (at == 0) break;
    }
    std::mt19937 bits(6);
    for (int k = 0; k < 20; ++k)
      expect_read(inflater, bits() % (open_.size() - 5000), bits() % 5000);
    expect_read(inflater, open_.size(), 0);
    EXPECT_EQ(inflater.size(), open_.size());
  }
}

TEST_F(Inflaters, CheckTheSumAtTheEndHoweverTheyGotThere) {
  Inflater wrong(bytes_of(packed_), open_.size(), checksum_ ^ 1, "f");
  wrong.mark(2'000'000);
  expect_read(wrong, 2'000'000, 100);
  expect_read(wrong, 100, 100);
  std::vector<std::byte> last(10);
  test::expect_error(Error::Kind::work, {"f: its checksum"},
                     [&] { wrong.read(open_.size() - 10, last); });
}

TEST_F(Inflaters, RefuseToReadPastTheEnd) {
  Inflater inflater = whole();
  std::vector<std::byte> out(10);
  for (uint64_t offset : {open_.size() - 9, open_.size() + 1, ~uint64_t{0}, ~uint64_t{0} - 5})
    test::expect_error(Error::Kind::work, {"f: has 3000000 bytes"},
                       [&] { inflater.read(offset, out); });
}

TEST_F(Inflaters, NoticeStreamsThatAreShortLongOrDamaged) {
  std::vector<std::byte> out(open_.size());
  for (size_t size : {size_t{0}, size_t{1}, packed_.size() / 2, packed_.size() - 20}) {
    Inflater cut(bytes_of(packed_).first(size), open_.size(), checksum_, "f");
    test::expect_error(Error::Kind::work, {"f: its compressed data ends after"},
                       [&] { cut.read(0, out); });
  }
  Inflater longer(bytes_of(packed_), open_.size() - 1, checksum_, "f");
  test::expect_error(Error::Kind::work, {"continues past 2999999 bytes"},
                     [&] { longer.read(0, std::span(out).first(out.size() - 1)); });
  Bytes damaged = packed_;
  for (size_t k = 1000; k < 1100; ++k) damaged[k] = static_cast<char>(~damaged[k]);
  Inflater broken(bytes_of(damaged), open_.size(), checksum_, "f");
  EXPECT_THROW(broken.read(0, out), Error);
}

}  // namespace
}  // namespace headwater
