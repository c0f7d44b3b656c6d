#include "headwater/core/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/support/bytes.h"

namespace headwater {
namespace {

double f16(uint16_t bits) {
  return number_at(DType::f16, reinterpret_cast<const std::byte*>(&bits));
}

TEST(DTypes, ReadHalfPrecisionInEveryClass) {
  EXPECT_EQ(f16(0x0000), 0);
  EXPECT_TRUE(std::signbit(f16(0x8000)));
  EXPECT_EQ(f16(0x0001), std::ldexp(1, -24));
  EXPECT_EQ(f16(0x03ff), std::ldexp(1023, -24));
  EXPECT_EQ(f16(0x0400), std::ldexp(1, -14));
  EXPECT_EQ(f16(0x3c00), 1);
  EXPECT_EQ(f16(0xc000), -2);
  EXPECT_EQ(f16(0x7bff), 65504);
  EXPECT_TRUE(std::isinf(f16(0x7c00)) && f16(0xfc00) < 0);
  EXPECT_TRUE(std::isnan(f16(0x7c01)) && std::isnan(f16(0xfe00)));
}

TEST(DTypes, ReadBackEveryHalfThatTheTestsWrite) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    for (DType type : {DType::f16, DType::bf16}) {
      const auto half = static_cast<uint16_t>(bits);
      const double value = number_at(type, reinterpret_cast<const std::byte*>(&half));
      if (std::isnan(value)) continue;
      const test::Bytes bytes = test::encode(type, {value});
      ASSERT_EQ(std::memcmp(bytes.data(), &half, 2), 0) << name_of(type) << " " << bits;
    }
  }
}

TEST(DTypes, ReadNumbersAtAnyAddress) {
  for (int k = 0; k <= static_cast<int>(DType::boolean); ++k) {
    const auto type = static_cast<DType>(k);
    const test::Bytes bytes = "x" + test::encode(type, {1});
    EXPECT_EQ(number_at(type, reinterpret_cast<const std::byte*>(bytes.data()) + 1), 1);
    EXPECT_EQ(size_of(type), bytes.size() - 1) << name_of(type);
    EXPECT_EQ(is_float(type), type <= DType::f64);
  }
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_EQ(name_of(DType::boolean), "bool");
}

}  // namespace
}  // namespace headwater
