// linear for several rows: out^T = W x^T, tile by tile.
//
// The weights are read in place (tile-inl.h), a block at a time, so that a model is never in memory
// twice. x is packed into panels of vectors; a vector has one number from each of several rows. A
// task is some outputs for all rows of x: it reads its weights once and converts them on the way.
#if defined(HEADWATER_KERNEL_CPU_LINEAR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_LINEAR_INL_H
#undef HEADWATER_KERNEL_CPU_LINEAR_INL_H
#else
#define HEADWATER_KERNEL_CPU_LINEAR_INL_H
#endif

#include <algorithm>

#include "headwater/core/parallel.h"
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
// More rows of x than this are processed in several passes, so that packing needs little memory.
constexpr int rows_at_once = 512;

using One = hn::CappedTag<float, 1>;

// Contiguous numbers that go into out.
template <class D>
HWY_INLINE void put(Into into, D d, hn::Vec<D> v, float* HWY_RESTRICT to) {
  if (into == Into::add) v = hn::Add(hn::LoadU(d, to), v);
  if (into == Into::multiply) v = hn::Mul(hn::LoadU(d, to), v);
  hn::StoreU(v, d, to);
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

  void run(bool parallel) {
    const auto pack = [&](int p) { pack_panel_rows(x_, panel(p), packed(p)); };
    const auto multiply = [&](int task) { multiply_outputs(task * task_outputs); };
    const int panels = static_cast<int>(panels_.size());
    const int tasks = (weights_.outputs + task_outputs - 1) / task_outputs;
    if (parallel) {
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
  // What this thread reads next: the rest of its rows, or those of its next task if all threads are
  // equally fast.
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
    float* tile = sums;
    for (const PackedPanel& panel : panels_) {
      with_activation(finish_.activation, [&](auto activate) {
        activate_panel<decltype(activate)>(panel, first, count, tile);
      });
      store_panel(panel, first, count, tile);
      tile += (count + tile_rows - 1) / tile_rows * tile_rows * panel.width;
    }
  }

  // Row o of `sums` is output first + o for the panel's rows of x.
  template <class Activate>
  void activate_panel(const PackedPanel& panel, int first, int count, float* sums) const {
    const Floats d;
    for (int o = 0; o < count; ++o) {
      const FloatVec bias =
          hn::Set(d, finish_.bias.empty() ? 0.0f : finish_.bias[static_cast<size_t>(first + o)]);
      for (int i = 0; i < panel.width; i += vector_floats) {
        float* at = sums + o * panel.width + i;
        hn::Store(Activate::of(hn::Add(hn::Load(d, at), bias)), d, at);
      }
    }
  }

  // A few rows of x at a time, all outputs of the task: the rows of out are far apart.
  void store_panel(const PackedPanel& panel, int first, int count, const float* sums) const {
    const int fours_of_rows = panel.count / four * four, fours = count / four * four;
    for (int t = 0; t < fours_of_rows; t += four) {
      float* to = &out_(panel.first + t, first);
      for (int o = 0; o < fours; o += four) {
        hn::Vec<Four> v[four];
        load_transposed(sums + o * panel.width + t, panel.width, v);
        HWY_UNROLL(4)
        for (int i = 0; i < four; ++i) put(finish_.into, Four(), v[i], to + i * out_.stride() + o);
      }
    }
    for (int t = 0; t < panel.count; ++t)
      for (int o = t < fours_of_rows ? fours : 0; o < count; ++o)
        put(finish_.into, One(), hn::Set(One(), sums[o * panel.width + t]),
            &out_(panel.first + t, first + o));
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
  // Smaller work is done before another thread wakes up. The limit for one row comes from the speed
  // of memory, for several rows from that of the processor.
  const double work = double(x.rows()) * weights.outputs * weights.inputs;
  const bool parallel = work > (x.rows() == 1 ? 1 << 16 : 1 << 19);
  if (x.rows() == 1) return linear_row(x.row(0), weights, finish, out.row(0), parallel);
  for (int first = 0; first < x.rows(); first += rows_at_once) {
    const int count = std::min(rows_at_once, x.rows() - first);
    LinearPart(x.rows(first, count), weights, finish, out.rows(first, count)).run(parallel);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_LINEAR_INL_H
