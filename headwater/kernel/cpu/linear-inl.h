// linear for several rows: out^T = W x^T, tile by tile.
//
// The weights are the side that is read in place (tile-inl.h), a block at a time, so that a model
// is never in memory twice; x is packed into panels of vectors that run along its rows. A task is
// some outputs for all rows of x: it reads its weights once, and converts them as it does.
#if defined(HEADWATER_KERNEL_CPU_LINEAR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_LINEAR_INL_H
#undef HEADWATER_KERNEL_CPU_LINEAR_INL_H
#else
#define HEADWATER_KERNEL_CPU_LINEAR_INL_H
#endif

#include <algorithm>

#include "headwater/core/threads.h"
#include "headwater/kernel/cpu/activation-inl.h"
#include "headwater/kernel/cpu/linear_row-inl.h"
#include "headwater/kernel/cpu/panel-inl.h"
#include "headwater/kernel/cpu/scratch.h"
#include "headwater/kernel/cpu/tile-inl.h"
#include "headwater/kernel/cpu/transpose-inl.h"
#include "headwater/kernel/cpu/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

constexpr int task_outputs = 4 * tile_rows;
// More rows of x than this are taken in several goes, so that packing needs little memory.
constexpr int rows_at_once = 512;

// Numbers of one row of x on their way into out.
HWY_INLINE void put(Into into, const float* from, int count, float* HWY_RESTRICT to) {
  const hn::CappedTag<float, 4> d;
  constexpr int step = static_cast<int>(hn::MaxLanes(d));
  if (count == tile_rows) {
    HWY_UNROLL(3)
    for (int o = 0; o < tile_rows; o += step) {
      auto v = hn::LoadU(d, from + o);
      if (into == Into::add) v = hn::Add(hn::LoadU(d, to + o), v);
      if (into == Into::multiply) v = hn::Mul(hn::LoadU(d, to + o), v);
      hn::StoreU(v, d, to + o);
    }
    return;
  }
  for (int o = 0; o < count; ++o) {
    if (into == Into::store) to[o] = from[o];
    if (into == Into::add) to[o] += from[o];
    if (into == Into::multiply) to[o] *= from[o];
  }
}

// One product of some rows of x: x(first ... first + rows - 1) W^T into the same rows of out.
class LinearPart {
 public:
  LinearPart(MatrixView x, const Weights& weights, const Finish& finish, MatrixSpan out)
      : x_(x),
        weights_(weights),
        finish_(finish),
        out_(out),
        panels_(panels_of(x.rows())),
        packed_rows_(packed_rows(panels_)),
        packed_(scratch(packed_rows_ * static_cast<size_t>(x.columns()))) {}

  void run(bool threads) {
    const auto pack = [&](int p) { pack_panel_rows(x_, panel(p), packed(p)); };
    const auto multiply = [&](int task) { multiply_outputs(task * task_outputs); };
    const int panels = static_cast<int>(panels_.size());
    const int tasks = (weights_.outputs + task_outputs - 1) / task_outputs;
    if (threads) {
      parallel_for(panels, pack);
      parallel_for(tasks, multiply);
    } else {
      for (int p = 0; p < panels; ++p) pack(p);
      for (int task = 0; task < tasks; ++task) multiply(task);
    }
  }

 private:
  const PackedPanel& panel(int p) const { return panels_[static_cast<size_t>(p)]; }
  float* packed(int p) const {
    return packed_ + static_cast<size_t>(panel(p).first) * static_cast<size_t>(x_.columns());
  }

  WeightBlock block_at(int first, int k) const {
    return {first, std::min(task_outputs, weights_.outputs - first), k,
            std::min(depth_step, weights_.inputs - k)};
  }
  // What this thread reads next: the rest of its rows, or those of the task that it will get if all
  // threads are as fast as it.
  WeightBlock block_after(const WeightBlock& block) const {
    if (block.k + block.depth < weights_.inputs)
      return block_at(block.first, block.k + block.depth);
    const int next = block.first + task_outputs * threads();
    return next < weights_.outputs ? block_at(next, 0) : WeightBlock();
  }

  void multiply_outputs(int first) const {
    const int count = std::min(task_outputs, weights_.outputs - first);
    constexpr size_t block_floats = static_cast<size_t>(task_outputs) * row_step;
    float* rows = task_scratch(block_floats + static_cast<size_t>(task_outputs) * packed_rows_);
    float* sums = rows + block_floats;
    const auto tiles =
        static_cast<std::ptrdiff_t>(panels_.size()) * ((count + tile_rows - 1) / tile_rows);
    int k = 0;
    do {
      const WeightBlock block = block_at(first, k);
      const int depth = block.depth;
      load_block(weights_, block, rows);
      Soon soon = place_of(weights_, block_after(block));
      soon.within(tiles, depth);
      float* tile = sums;
      for (int p = 0; p < static_cast<int>(panels_.size()); ++p) {
        const int width = panel(p).width;
        const float* from = packed(p) + k * width;
        for (int o = 0; o < count; o += tile_rows) {
          const float* some = rows + o * row_step;
          if (width == wide_panel)
            multiply_rows<2>(some, from, depth, k > 0, tile, width, &soon);
          else
            multiply_rows<1>(some, from, depth, k > 0, tile, width, &soon);
          tile += tile_rows * width;
        }
      }
      k += depth_step;
    } while (k < weights_.inputs);
    with_activation(finish_.activation, [&](auto activate) {
      float* tile = sums;
      for (const PackedPanel& panel : panels_)
        for (int o = 0; o < count; o += tile_rows) {
          finish_tile<decltype(activate)>(panel, first + o, std::min(tile_rows, count - o), tile);
          tile += tile_rows * panel.width;
        }
    });
  }

  template <class Activate>
  void finish_tile(const PackedPanel& panel, int output, int count, float* tile) const {
    const Floats d;
    for (int o = 0; o < count; ++o) {
      const FloatVec bias =
          hn::Set(d, finish_.bias.empty() ? 0.0f : finish_.bias[static_cast<size_t>(output + o)]);
      for (int i = 0; i < panel.width; i += vector_floats) {
        float* at = tile + o * panel.width + i;
        hn::Store(Activate::of(hn::Add(hn::Load(d, at), bias)), d, at);
      }
    }
    for (int t = 0; t < panel.count; t += 4) {
      HWY_ALIGN float four[4][tile_rows];
#if HWY_TARGET == HWY_SCALAR
      for (int i = 0; i < std::min(4, panel.count - t); ++i)
        for (int o = 0; o < tile_rows; ++o) four[i][o] = tile[o * panel.width + t + i];
#else
      for (int o = 0; o < tile_rows; o += 4)
        transpose_four(tile + o * panel.width + t, panel.width, &four[0][o], tile_rows);
#endif
      for (int i = 0; i < std::min(4, panel.count - t); ++i)
        put(finish_.into, four[i], count, &out_(panel.first + t + i, output));
    }
  }

  MatrixView x_;
  const Weights& weights_;
  const Finish& finish_;
  MatrixSpan out_;
  std::vector<PackedPanel> panels_;
  size_t packed_rows_;
  float* packed_;
};

void linear(MatrixView x, const Weights& weights, const Finish& finish, MatrixSpan out) {
  if (x.rows() == 0 || weights.outputs == 0) return;
  const double work = double(x.rows()) * weights.outputs * weights.inputs;
  const bool threads = work > linear_worth_threads;
  if (x.rows() == 1) return linear_row(x.row(0), weights, finish, out.row(0), threads);
  for (int first = 0; first < x.rows(); first += rows_at_once) {
    const int count = std::min(rows_at_once, x.rows() - first);
    LinearPart(x.rows(first, count), weights, finish, out.rows(first, count)).run(threads);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_LINEAR_INL_H
