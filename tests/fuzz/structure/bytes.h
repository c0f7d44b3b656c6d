// Numbers in bytes, and streams of zlib.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headwater::fuzz {

/// The last byte first if `big`.
std::string number(uint64_t value, int size, bool big = false);
/// 0 past the end.
uint64_t number_at(std::string_view bytes, size_t at, int size, bool big = false);

/// What zlib gives until its end, its first mistake or `most` bytes. `window` as zlib has it.
std::string inflated(std::string_view bytes, int window, size_t most);
std::string deflated(std::string_view bytes, int window);

}  // namespace headwater::fuzz
