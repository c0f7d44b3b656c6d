#include "headwater/core/dtype.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace headwater {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

double from_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

}  // namespace

size_t size_of(DType type) {
  switch (type) {
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return 1;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16:
      return 2;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4;
    case DType::f64:
    case DType::i64:
    case DType::u64:
      return 8;
  }
  return 0;
}

std::string_view name_of(DType type) {
  constexpr std::string_view names[] = {"f16", "bf16", "f32", "f64", "i8",  "i16", "i32",
                                        "i64", "u8",   "u16", "u32", "u64", "bool"};
  return names[static_cast<int>(type)];
}

bool is_float(DType type) { return type <= DType::f64; }

double number_at(DType type, const std::byte* bytes) {
  switch (type) {
    case DType::f16:
      return from_f16(load<uint16_t>(bytes));
    case DType::bf16:
      return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(bytes)) << 16);
    case DType::f32:
      return load<float>(bytes);
    case DType::f64:
      return load<double>(bytes);
    case DType::i8:
      return load<int8_t>(bytes);
    case DType::i16:
      return load<int16_t>(bytes);
    case DType::i32:
      return load<int32_t>(bytes);
    case DType::i64:
      return static_cast<double>(load<int64_t>(bytes));
    case DType::u8:
    case DType::boolean:
      return load<uint8_t>(bytes);
    case DType::u16:
      return load<uint16_t>(bytes);
    case DType::u32:
      return load<uint32_t>(bytes);
    case DType::u64:
      return static_cast<double>(load<uint64_t>(bytes));
  }
  return 0;
}

}  // namespace headwater
