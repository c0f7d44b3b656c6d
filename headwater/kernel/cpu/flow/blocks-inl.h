// Blocks of sixteen integers for any width of vectors: the flow solver is written in these.
#if defined(HEADWATER_KERNEL_CPU_FLOW_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_BLOCKS_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_BLOCKS_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_BLOCKS_INL_H
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "headwater/kernel/flow/flow.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One bit for each number of a block.
using Bits = uint32_t;

using Ints = hn::CappedTag<int32_t, flow_block>;
using IntVec = hn::Vec<Ints>;
constexpr int int_lanes = static_cast<int>(hn::MaxLanes(Ints()));
constexpr int vectors_of_a_block = flow_block / int_lanes;

template <class Mask>
HWY_INLINE Bits to_bits(Mask mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(Ints(), mask, bytes);
  Bits bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits & ((1u << int_lanes) - 1);
}

// A block in registers.
struct Block {
  IntVec part[vectors_of_a_block];
};

HWY_INLINE Block load_block(const int32_t* from) {
  Block block;
  for (int v = 0; v < vectors_of_a_block; ++v)
    block.part[v] = hn::Load(Ints(), from + v * int_lanes);
  return block;
}

HWY_INLINE void store_block(const Block& block, int32_t* to) {
  for (int v = 0; v < vectors_of_a_block; ++v) hn::Store(block.part[v], Ints(), to + v * int_lanes);
}

// Sixteen numbers, `stride` apart.
HWY_INLINE Block gather_block(const int32_t* from, int stride) {
  Block block;
  const IntVec places = hn::Mul(hn::Iota(Ints(), 0), hn::Set(Ints(), stride));
  for (int v = 0; v < vectors_of_a_block; ++v)
    block.part[v] = hn::GatherIndex(
        Ints(), from + static_cast<size_t>(v) * int_lanes * static_cast<size_t>(stride), places);
  return block;
}

HWY_INLINE Block repeated(int32_t value) {
  Block block;
  for (int v = 0; v < vectors_of_a_block; ++v) block.part[v] = hn::Set(Ints(), value);
  return block;
}

HWY_INLINE Block smaller(const Block& a, const Block& b) {
  Block out;
  for (int v = 0; v < vectors_of_a_block; ++v) out.part[v] = hn::Min(a.part[v], b.part[v]);
  return out;
}

HWY_INLINE Block plus(const Block& a, const Block& b) {
  Block out;
  for (int v = 0; v < vectors_of_a_block; ++v) out.part[v] = hn::Add(a.part[v], b.part[v]);
  return out;
}

HWY_INLINE Block minus(const Block& a, const Block& b) {
  Block out;
  for (int v = 0; v < vectors_of_a_block; ++v) out.part[v] = hn::Sub(a.part[v], b.part[v]);
  return out;
}

// Zero where `away` has a bit.
HWY_INLINE Block without(const Block& a, Bits away) {
  HWY_ALIGN static constexpr int32_t bit[flow_block] = {
      1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
      1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  Block out;
  const IntVec set = hn::Set(Ints(), static_cast<int32_t>(away));
  for (int v = 0; v < vectors_of_a_block; ++v)
    out.part[v] = hn::IfThenElseZero(
        hn::Eq(hn::And(set, hn::Load(Ints(), bit + v * int_lanes)), hn::Zero(Ints())), a.part[v]);
  return out;
}

// hn::SumOfLanes also copies the sum to every lane, which would double the cost.
template <class D>
HWY_INLINE int32_t sum_of_lanes(D d, hn::Vec<D> a) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  return hn::GetLane(a);
#else
  if constexpr (hn::MaxLanes(d) > 4) {
    const hn::Half<D> half;
    return sum_of_lanes(half, hn::Add(hn::LowerHalf(half, a), hn::UpperHalf(half, a)));
  } else {
    a = hn::Add(a, hn::Shuffle1032(a));
    return hn::GetLane(hn::Add(a, hn::Shuffle2301(a)));
  }
#endif
}

HWY_INLINE int32_t sum_of(const Block& a) {
  IntVec sum = a.part[0];
  for (int v = 1; v < vectors_of_a_block; ++v) sum = hn::Add(sum, a.part[v]);
  return sum_of_lanes(Ints(), sum);
}

HWY_INLINE Bits positive(const Block& a) {
  Bits bits = 0;
  for (int v = 0; v < vectors_of_a_block; ++v)
    bits |= to_bits(hn::Gt(a.part[v], hn::Zero(Ints()))) << (v * int_lanes);
  return bits;
}

// Where a is less than b.
HWY_INLINE Bits less(const Block& a, const Block& b) {
  Bits bits = 0;
  for (int v = 0; v < vectors_of_a_block; ++v)
    bits |= to_bits(hn::Lt(a.part[v], b.part[v])) << (v * int_lanes);
  return bits;
}

HWY_INLINE Bits equal(const Block& a, int32_t b) {
  Bits bits = 0;
  for (int v = 0; v < vectors_of_a_block; ++v)
    bits |= to_bits(hn::Eq(a.part[v], hn::Set(Ints(), b))) << (v * int_lanes);
  return bits;
}

// Subtracts `amount` from sixteen numbers in memory.
HWY_INLINE void take(const Block& amount, int32_t* from) {
  store_block(minus(load_block(from), amount), from);
}

HWY_INLINE int first_of(Bits bits) { return __builtin_ctz(bits); }

int64_t sum_of_minima(const int32_t* a, const int32_t* b, int begin, int end) {
#if HWY_TARGET == HWY_SCALAR
  int64_t sum = 0;
  for (int j = begin; j < end; ++j) sum += std::min(a[j], b[j]);
  return sum;
#else
  const hn::Repartition<uint64_t, Ints> wide;
  const hn::Repartition<uint32_t, Ints> narrow;
  auto low = hn::Zero(wide), high = hn::Zero(wide);
  const auto mask = hn::Set(wide, 0xffffffffu);
  for (int j = begin; j < end; j += int_lanes) {
    const auto least = hn::BitCast(
        wide, hn::BitCast(narrow, hn::Min(hn::Load(Ints(), a + j), hn::Load(Ints(), b + j))));
    low = hn::Add(low, hn::And(least, mask));
    high = hn::Add(high, hn::ShiftRight<32>(least));
  }
  return static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(wide, hn::Add(low, high))));
#endif
}

void add_minima(int32_t value, const int32_t* row, int32_t* sums, int begin, int end) {
  const IntVec most = hn::Set(Ints(), flow_unit), single = hn::Set(Ints(), value);
  for (int j = begin; j < end; j += int_lanes) {
    const IntVec least = hn::Min(single, hn::Load(Ints(), row + j));
    hn::Store(hn::Min(most, hn::Add(hn::Load(Ints(), sums + j), least)), Ints(), sums + j);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_BLOCKS_INL_H
