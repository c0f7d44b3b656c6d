// GPT-2's alphabet: a printable character for each of the 256 bytes.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "headwater/model/tokenizer/aligned_text.h"

namespace headwater {

/// The character that stands for each byte.
const std::array<char32_t, 256>& byte_alphabet();

/// The byte that the character stands for, or -1.
int byte_of(char32_t character);

/// The characters for the bytes of the text in its place; they share the place of what they spell.
void spell_bytes(AlignedText& text);

/// Stands for a space.
constexpr char32_t byte_alphabet_space = 0x120;

}  // namespace headwater
