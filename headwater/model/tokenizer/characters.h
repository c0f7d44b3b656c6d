// Characters of valid UTF-8, and their kinds.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace headwater {

struct Character {
  char32_t code;
  int length;  // in bytes
};

/// The character that starts at byte `at` of valid UTF-8.
inline Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1Fu) << 6 | (byte(1) & 0x3Fu), 2};
  if (lead < 0xF0) return {(lead & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu), 3};
  return {
      (lead & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu),
      4};
}

/// The length in bytes of a character in valid UTF-8, from its first byte.
inline int length_of(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The start of the character before byte `end`; end > 0.
inline size_t character_before(std::string_view text, size_t end) {
  do --end;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return end;
}

void append_utf8(std::string& out, char32_t code);

/// Throws Error naming `what` and the byte if the text is not valid UTF-8.
void check_utf8(std::string_view text, std::string_view what);

bool is_whitespace(char32_t c);
bool is_punctuation(char32_t c);
bool is_numeric(char32_t c);
bool is_word(char32_t c);             // \w of a regular expression
bool is_nonspacing_mark(char32_t c);  // of decomposed text
bool is_combining_mark(char32_t c);
bool is_cleaned(char32_t c);  // BERT's clean_text removes it
bool is_chinese(char32_t c);  // by BERT's definition
bool is_ascii(std::string_view text);

/// The lower case of c if that is one character: for all except U+0130.
char32_t lowercase(char32_t c);

}  // namespace headwater
