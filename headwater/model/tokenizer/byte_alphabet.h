// GPT-2's alphabet: a printable character for each of the 256 bytes.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "headwater/model/tokenizer/aligned_text.h"

namespace headwater {

/// The character for each byte.
const std::array<char32_t, 256>& byte_alphabet();

/// The byte for the character, or -1.
int byte_of(char32_t character);

/// Replaces each byte of the text by its character, which keeps the byte's place.
void spell_bytes(AlignedText& text);

/// The character for a space.
constexpr char32_t byte_alphabet_space = 0x120;

}  // namespace headwater
