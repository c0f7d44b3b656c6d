#include "headwater/core/utf8.h"

namespace headwater {
namespace {

constexpr char32_t replacement = 0xFFFD;

// The range of second bytes that may follow `lead`. This alone rules out overlong forms, surrogates
// and values above U+10FFFF.
struct Second {
  unsigned low = 0x80, high = 0xBF;
};

Second second_after(unsigned lead) {
  switch (lead) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {};
  }
}

int length_of(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

void append(std::string& out, char32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) c = replacement;
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::u32string code_points(std::string_view bytes) {
  std::u32string out;
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const unsigned lead = static_cast<unsigned char>(bytes[at++]);
    const int length = length_of(lead);
    if (length <= 1) {
      out += length == 1 ? static_cast<char32_t>(lead) : replacement;
      continue;
    }
    char32_t c = lead & (0xFF >> (length + 1));
    int read = 1;
    for (; read < length && at < bytes.size(); ++read, ++at) {
      const unsigned next = static_cast<unsigned char>(bytes[at]);
      const Second allowed = read == 1 ? second_after(lead) : Second{};
      if (next < allowed.low || next > allowed.high) break;
      c = c << 6 | (next & 0x3F);
    }
    out += read == length ? c : replacement;
  }
  return out;
}

std::string to_utf8(std::u32string_view points) {
  std::string out;
  out.reserve(points.size());
  for (const char32_t c : points) append(out, c);
  return out;
}

std::string valid_utf8(std::string_view bytes) { return to_utf8(code_points(bytes)); }

bool is_unprintable(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool turns = c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
                     (c >= 0x2066 && c <= 0x206F);
  const bool without_width = c == 0x200B || c == 0x2060 || c == 0xFEFF ||
                             (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c < 0xE0100);
  const bool no_character = (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
  return control || turns || without_width || no_character;
}

}  // namespace headwater
