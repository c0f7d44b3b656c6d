// JSON as a tree: values, members and texts change, and the result is JSON again.
#pragma once
#include "tests/fuzz/structure/chance.h"

namespace headwater::fuzz {

/// `words`, separated by spaces, become keys and values now and then.
std::string changed_json(std::string_view text, Chance& chance, std::string_view words);

/// `text` with a value, or a member, of `other` in it.
std::string crossed_json(std::string_view text, std::string_view other, Chance& chance);

/// changed_json for LLVMFuzzerCustomMutator.
Change json_change(std::string_view words);

/// crossed_json for LLVMFuzzerCustomCrossOver.
size_t cross_json(const uint8_t* data, size_t size, const uint8_t* other, size_t other_size,
                  uint8_t* out, size_t most, unsigned seed);

/// One word of several, separated by spaces.
std::string_view any_word(std::string_view words, Chance& chance);

}  // namespace headwater::fuzz
