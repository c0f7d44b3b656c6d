// Sets of tokens and of arcs as bits, 64 to a word, for the searches of the flow solver.
#if defined(HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H
#endif

#include <algorithm>
#include <cstdint>

#include "headwater/kernel/cpu/flow/blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

constexpr int word_bits = 64;
constexpr int blocks_of_a_word = word_bits / flow_block;

// Unsigned, so that the division is a shift.
HWY_INLINE unsigned word_of(int u) { return static_cast<unsigned>(u) / word_bits; }
HWY_INLINE uint64_t bit_of(int u) { return uint64_t{1} << (static_cast<unsigned>(u) % word_bits); }
HWY_INLINE bool has(const uint64_t* bits, int u) { return (bits[word_of(u)] & bit_of(u)) != 0; }
HWY_INLINE void add(uint64_t* bits, int u) { bits[word_of(u)] |= bit_of(u); }
HWY_INLINE void drop(uint64_t* bits, int u) { bits[word_of(u)] &= ~bit_of(u); }
HWY_INLINE unsigned word_of_block(int c) { return static_cast<unsigned>(c) / blocks_of_a_word; }
HWY_INLINE unsigned shift_of_block(int c) {
  return static_cast<unsigned>(c) % blocks_of_a_word * flow_block;
}
HWY_INLINE int first_of(uint64_t bits) { return __builtin_ctzll(bits); }

// Which block of a word holds its bit r.
HWY_INLINE int block_with(int r) { return static_cast<int>(static_cast<unsigned>(r) / flow_block); }

// The sixteen bits of block c.
HWY_INLINE Bits block_of(const uint64_t* bits, int c) {
  return static_cast<Bits>(bits[word_of_block(c)] >> shift_of_block(c)) & 0xffff;
}
HWY_INLINE void set_block(uint64_t* bits, int c, Bits block) {
  const unsigned shift = shift_of_block(c);
  uint64_t& word = bits[word_of_block(c)];
  word = (word & ~(uint64_t{0xffff} << shift)) | uint64_t{block} << shift;
}

// Transposes 64 rows of 64 bits in place.
inline void transpose(uint64_t* rows) {
  uint64_t mask = 0x00000000ffffffffu;
  for (int half = 32; half > 0; half /= 2, mask ^= mask << half)
    for (int base = 0; base < word_bits; base += 2 * half)
      for (int r = base; r < base + half; ++r) {
        const uint64_t moved = ((rows[r] >> half) ^ rows[r + half]) & mask;
        rows[r] ^= moved << half;
        rows[r + half] ^= moved;
      }
}

using Words = hn::CappedTag<uint64_t, 8>;
constexpr int word_lanes = static_cast<int>(hn::MaxLanes(Words()));

constexpr int most_short = 4;  // words of a row of which a vector may hold several

// How many words a row of `bits` bits takes, padded so that short rows fill vectors.
inline int words_of(int bits) {
  const int words = (bits + word_bits - 1) / word_bits;
  return words == 3 ? 4 : words > 4 && words < 8 ? 8 : words;
}

// One bit for each group of `size` bits: whether any of them is set.
template <int size>
HWY_INLINE uint64_t gather_bits(uint64_t x) {
  if constexpr (size == 1) {
    return x;
  } else if constexpr (size == 4) {
    x = (x | x >> 1 | x >> 2 | x >> 3) & 0x1111111111111111u;
    x = (x | x >> 3) & 0x0303030303030303u;
    x = (x | x >> 6) & 0x000f000f000f000fu;
    x = (x | x >> 12) & 0x000000ff000000ffu;
    return (x | x >> 24) & 0xffffu;
  } else {
    x = (x | x >> 1) & 0x5555555555555555u;
    x = (x | x >> 1) & 0x3333333333333333u;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (x | x >> 16) & 0xffffffffu;
  }
}

// rows_meeting for all 64 rows, several rows in a vector.
template <int words>
HWY_INLINE uint64_t short_rows_meeting(const uint64_t* rows, const uint64_t* with) {
  uint64_t pattern[word_lanes];
  for (int j = 0; j < word_lanes; ++j) pattern[j] = with[j % words];
  const auto mask = hn::LoadU(Words(), pattern);
  uint64_t out = 0;
  for (int part = 0; part < words; ++part) {
    uint64_t flags = 0;
    for (int j = 0; j < word_bits; j += word_lanes) {
      const auto common = hn::And(hn::LoadU(Words(), rows + part * word_bits + j), mask);
      uint8_t bytes[8] = {};
      hn::StoreMaskBits(Words(), hn::Ne(common, hn::Zero(Words())), bytes);
      flags |= static_cast<uint64_t>(bytes[0] & ((1u << word_lanes) - 1)) << j;
    }
    out |= gather_bits<words>(flags) << (part * word_bits / words);
  }
  return out;
}

// Whether two rows have a bit in common.
HWY_INLINE bool meets(const uint64_t* row, const uint64_t* with, int words) {
  int w = 0;
  if (words >= word_lanes) {
    auto common = hn::Zero(Words());
    for (; w + word_lanes <= words; w += word_lanes)
      common = hn::Or(common, hn::And(hn::LoadU(Words(), row + w), hn::LoadU(Words(), with + w)));
    if (!hn::AllTrue(Words(), hn::Eq(common, hn::Zero(Words())))) return true;
  }
  for (; w < words; ++w)
    if (row[w] & with[w]) return true;
  return false;
}

// Which of the 64 rows, among those asked for, have a bit in common with `with`.
HWY_INLINE uint64_t rows_meeting(const uint64_t* rows, int words, const uint64_t* with,
                                 uint64_t asked) {
  constexpr int few = 6;
  if (words <= std::min(most_short, word_lanes) && hwy::PopCount(asked) > few) {
    if (words == 1) return asked & short_rows_meeting<1>(rows, with);
    if (words == 2) return asked & short_rows_meeting<2>(rows, with);
    if (words == 4) return asked & short_rows_meeting<4>(rows, with);
  }
  uint64_t out = 0;
  for (uint64_t bits = asked; bits; bits &= bits - 1)
    if (meets(rows + first_of(bits) * words, with, words)) out |= bits & -bits;
  return out;
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H
