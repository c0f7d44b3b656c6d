// Sets of tokens and of arcs as bits, 64 to a word: what the flow solver looks through.
#if defined(HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H
#endif

#include <cstdint>
#include <vector>

#include "headwater/kernel/cpu/flow_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

constexpr int word_bits = 64;
constexpr int blocks_of_a_word = word_bits / flow_block;

HWY_INLINE uint64_t bit_of(int u) { return uint64_t{1} << (u % word_bits); }
HWY_INLINE bool has(const uint64_t* bits, int u) { return (bits[u / word_bits] & bit_of(u)) != 0; }
HWY_INLINE void add(uint64_t* bits, int u) { bits[u / word_bits] |= bit_of(u); }
HWY_INLINE void drop(uint64_t* bits, int u) { bits[u / word_bits] &= ~bit_of(u); }
HWY_INLINE int first_of(uint64_t bits) { return __builtin_ctzll(bits); }

// The sixteen bits of block c.
HWY_INLINE Bits block_of(const uint64_t* bits, int c) {
  return static_cast<Bits>(bits[c / blocks_of_a_word] >> (c % blocks_of_a_word * flow_block)) &
         0xffff;
}
HWY_INLINE void set_block(uint64_t* bits, int c, Bits block) {
  const int shift = c % blocks_of_a_word * flow_block;
  uint64_t& word = bits[c / blocks_of_a_word];
  word = (word & ~(uint64_t{0xffff} << shift)) | uint64_t{block} << shift;
}

// Turns 64 rows of 64 bits into columns, in place.
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

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_BITS_INL_H
