#include "headwater/model/tokenizer/characters.h"

#include <simdjson.h>
#include <utf8proc.h>

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/unicode_tables.h"

namespace headwater {
namespace {

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

bool is_ascii_word(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

void append_utf8(std::string& out, char32_t code) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

void check_utf8(std::string_view text, std::string_view what) {
  if (simdjson::validate_utf8(text.data(), text.size())) return;
  size_t at = 0;
  utf8proc_int32_t code;
  while (at < text.size()) {
    const auto length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (length <= 0) break;
    at += static_cast<size_t>(length);
  }
  fail("{}: byte {} is not UTF-8, expected valid UTF-8; save it as UTF-8", what, at);
}

bool is_whitespace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_punctuation(char32_t c) {
  return c < 0x80 ? is_ascii_punctuation(c) : in(unicode::punctuation, c);
}

bool is_numeric(char32_t c) { return c < 0x80 ? c >= '0' && c <= '9' : in(unicode::numeric, c); }

bool is_word(char32_t c) { return c < 0x80 ? is_ascii_word(c) : in(unicode::word, c); }

bool is_nonspacing_mark(char32_t c) { return c >= 0x300 && in(unicode::nonspacing_marks, c); }

bool is_combining_mark(char32_t c) { return c >= 0x300 && in(unicode::combining_marks, c); }

bool is_cleaned(char32_t c) {
  return c < 0x7F ? c < ' ' && c != '\t' && c != '\n' && c != '\r' : in(unicode::cleaned, c);
}

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

char32_t lowercase(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  const auto& runs = unicode::lowercase_runs;
  const auto after = std::upper_bound(
      runs.begin(), runs.end(), c,
      [](char32_t code, const unicode::LowercaseRun& run) { return code < run.first; });
  if (after == runs.begin()) return c;
  const auto& run = *std::prev(after);
  if (c > run.last || (c - run.first) % run.step != 0) return c;
  return static_cast<char32_t>(static_cast<int64_t>(c) + run.difference);
}

}  // namespace headwater
