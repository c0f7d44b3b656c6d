#include "headwater/model/tokenizer/base64.h"

#include <array>
#include <cstdint>

namespace headwater {
namespace {

constexpr std::array<int8_t, 256> values = [] {
  std::array<int8_t, 256> out{};
  out.fill(-1);
  int8_t next = 0;
  for (char c = 'A'; c <= 'Z'; ++c) out[static_cast<unsigned char>(c)] = next++;
  for (char c = 'a'; c <= 'z'; ++c) out[static_cast<unsigned char>(c)] = next++;
  for (char c = '0'; c <= '9'; ++c) out[static_cast<unsigned char>(c)] = next++;
  out['+'] = next++;
  out['/'] = next;
  return out;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  while (!text.empty() && text.back() == '=' && text.size() % 4 != 2) text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int8_t value = values[static_cast<unsigned char>(c)];
    if (value < 0) return {};
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  return out;
}

std::string encode_base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (at + k < bytes.size() ? static_cast<unsigned char>(bytes[at + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      out += at + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace headwater
