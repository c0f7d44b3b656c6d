#include "tests/support/bytes.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace headwater::test {
namespace {

uint16_t to_f16(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  value = std::abs(value);
  if (std::isnan(value)) return 0x7e00;
  if (value < std::ldexp(1, -14))
    return static_cast<uint16_t>(sign | static_cast<int>(std::nearbyint(std::ldexp(value, 24))));
  int exponent;
  const double fraction = std::frexp(value, &exponent);
  const int mantissa = std::isinf(value) ? 0 : static_cast<int>(std::nearbyint(fraction * 2048));
  const int bits = (exponent + 14) * 1024 + mantissa - 1024;  // a carry moves on to the exponent
  return static_cast<uint16_t>(sign | (std::isinf(value) || bits >= 0x7c00 ? 0x7c00 : bits));
}

uint16_t to_bf16(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

void append_number(Bytes& bytes, DType type, double value) {
  switch (type) {
    case DType::f16:
      return append(bytes, to_f16(value));
    case DType::bf16:
      return append(bytes, to_bf16(value));
    case DType::f32:
      return append(bytes, static_cast<float>(value));
    case DType::f64:
      return append(bytes, value);
    case DType::i8:
      return append(bytes, static_cast<int8_t>(value));
    case DType::i16:
      return append(bytes, static_cast<int16_t>(value));
    case DType::i32:
      return append(bytes, static_cast<int32_t>(value));
    case DType::i64:
      return append(bytes, static_cast<int64_t>(value));
    case DType::u8:
    case DType::boolean:
      return append(bytes, static_cast<uint8_t>(value));
    case DType::u16:
      return append(bytes, static_cast<uint16_t>(value));
    case DType::u32:
      return append(bytes, static_cast<uint32_t>(value));
    case DType::u64:
      return append(bytes, static_cast<uint64_t>(value));
  }
}

Bytes encode(DType type, const std::vector<double>& values) {
  Bytes bytes;
  for (double value : values) append_number(bytes, type, value);
  return bytes;
}

Folder::Folder() {
  std::string name = testing::TempDir() + "headwater.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const Bytes& bytes) const {
  std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path(name));
  return path(name);
}

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path);
  return bytes.str();
}

}  // namespace headwater::test
