// Reads blocks of the weights of a linear map as rows of floats, one for each output, regardless of
// their type and order in the file.
#if defined(HEADWATER_KERNEL_CPU_WEIGHTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_WEIGHTS_INL_H
#undef HEADWATER_KERNEL_CPU_WEIGHTS_INL_H
#else
#define HEADWATER_KERNEL_CPU_WEIGHTS_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/tile-inl.h"
#include "headwater/kernel/cpu/transpose-inl.h"
#include "headwater/kernel/network.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Calls task(reader) with the reader of lanes-inl.h for the type.
template <class Task>
void with_reader(DType type, const Task& task) {
  switch (type) {
    case DType::f16:
      return task(ReadF16());
    case DType::bf16:
      return task(ReadBF16());
    default:
      return task(ReadF32());
  }
}

// A part of the weights: outputs first ... first + count - 1, inputs k ... k + depth - 1.
struct WeightBlock {
  int first = 0, count = 0;
  int k = 0, depth = 0;
};

template <class Read>
const std::byte* weight_at(const Weights& weights, int row, int column) {
  const std::ptrdiff_t columns = weights.input_major ? weights.outputs : weights.inputs;
  return weights.data + (row * columns + column) * static_cast<std::ptrdiff_t>(Read::width);
}

// `count` numbers as floats, whole vectors of them: `to` has room for the last one.
template <class Read>
HWY_INLINE void convert(const std::byte* from, int count, float* HWY_RESTRICT to) {
  const Floats d;
  int j = 0;
  for (; j + vector_floats <= count; j += vector_floats)
    hn::Store(Read::vector(from + static_cast<size_t>(j) * Read::width), d, to + j);
  if (j < count)
    hn::Store(read_first<Read>(from + static_cast<size_t>(j) * Read::width,
                               static_cast<size_t>(count - j)),
              d, to + j);
}

// Row i of `to`, row_step floats from the next, is output first + i. Rows up to the next multiple
// of tile_rows exist, too, and hold arbitrary finite numbers.
template <class Read>
void load_output_major(const Weights& weights, const WeightBlock& block, float* to) {
  for (int i = 0; i < block.count; ++i)
    convert<Read>(weight_at<Read>(weights, block.first + i, block.k), block.depth,
                  to + i * row_step);
}

template <class Read>
void load_input_major(const Weights& weights, const WeightBlock& block, float* to) {
  constexpr int most = 4 * tile_rows;
  HWY_ALIGN float four[4][most + 16] = {};
  for (int k = 0; k < block.depth; k += 4) {
    const int some = std::min(4, block.depth - k);
    for (int i = 0; i < some; ++i)
      convert<Read>(weight_at<Read>(weights, block.k + k + i, block.first), block.count, four[i]);
    for (int o = 0; o < block.count; o += 4)
      transpose_four(&four[0][o], most + 16, to + o * row_step + k, row_step);
  }
}

// Where the block lies.
inline Soon place_of(const Weights& weights, const WeightBlock& block) {
  const auto width = static_cast<std::ptrdiff_t>(size_of(weights.type));
  if (weights.input_major)
    return {weights.data + (std::ptrdiff_t{block.k} * weights.outputs + block.first) * width,
            block.count * width, weights.outputs * width, block.depth};
  return {weights.data + (std::ptrdiff_t{block.first} * weights.inputs + block.k) * width,
          block.depth * width, weights.inputs * width, block.count};
}

inline void load_block(const Weights& weights, const WeightBlock& block, float* to) {
  with_reader(weights.type, [&](auto read) {
    using Read = decltype(read);
    if (weights.input_major)
      load_input_major<Read>(weights, block, to);
    else
      load_output_major<Read>(weights, block, to);
  });
  const int rows = (block.count + tile_rows - 1) / tile_rows * tile_rows;
  for (int i = block.count; i < rows; ++i) std::fill_n(to + i * row_step, block.depth, 0.0f);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_WEIGHTS_INL_H
