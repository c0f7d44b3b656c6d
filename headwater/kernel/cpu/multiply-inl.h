// multiply: out = a b, after Goto and van de Geijn ("Anatomy of High-Performance Matrix
// Multiplication", 2008), with the zeros of triangular and banded operands found while packing.
//
// The sum over k is cut into slabs. Of each slab, a is packed into panels of a few rows and b into
// panels of two vectors of columns; then every tile (panel of a) x (panel of b) of out is summed in
// registers over the k where neither panel is zero. Panels, slabs and tasks depend on the sizes
// alone, and each tile is summed by one thread from k = 0 up, so the result does not depend on the
// number of threads.
#if defined(HEADWATER_KERNEL_CPU_MULTIPLY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_MULTIPLY_INL_H
#undef HEADWATER_KERNEL_CPU_MULTIPLY_INL_H
#else
#define HEADWATER_KERNEL_CPU_MULTIPLY_INL_H
#endif

#include <algorithm>
#include <vector>

#include "headwater/core/parallel.h"
#include "headwater/kernel/cpu/lanes-inl.h"
#include "headwater/kernel/cpu/pack-inl.h"
#include "headwater/kernel/cpu/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Sums of a tile fill the registers: 14 x 2 of 32, or 6 x 2 of 16, beside two of b and one of a.
// The remaining rows go into panels of the lower height.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int tall = 14, low = 8;
#else
constexpr int tall = 6, low = 4;
#endif
constexpr int panel_width = static_cast<int>(2 * lanes);
constexpr int slab_depth = 512;
constexpr int packed_together = 2;              // panels of a: as large as one of b
constexpr int tile_rows = 2, tile_columns = 4;  // panels of a task

// Some rows of a or columns of b, packed at data[k * height] or data[k * panel_width].
struct Panel {
  int first = 0, count = 0;  // rows or columns of the matrix
  int height = 0;            // as packed; panels of b: panel_width
  float* data = nullptr;
  Band band;
};

// out = (or +=) the product of two panels over `band`.
template <int height>
HWY_INLINE void multiply_tile(const Panel& a, const Panel& b, Band band, bool add, MatrixSpan out) {
  const Floats d;
  FloatVec sum[height][2];
  HWY_UNROLL(16)
  for (int i = 0; i < height; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
  const float* HWY_RESTRICT left = a.data + band.begin * height;
  const float* HWY_RESTRICT right = b.data + band.begin * panel_width;
  for (int k = band.begin; k < band.end; ++k) {
    const FloatVec b0 = hn::Load(d, right), b1 = hn::Load(d, right + lanes);
    HWY_UNROLL(16)
    for (int i = 0; i < height; ++i) {
      const FloatVec one = hn::Set(d, left[i]);
      sum[i][0] = hn::MulAdd(one, b0, sum[i][0]);
      sum[i][1] = hn::MulAdd(one, b1, sum[i][1]);
    }
    left += height;
    right += panel_width;
  }
  if (b.count == panel_width) {
    HWY_UNROLL(16)
    for (int i = 0; i < height; ++i) {
      if (i >= a.count) break;
      float* to = &out(a.first + i, b.first);
      if (add) {
        sum[i][0] = hn::Add(sum[i][0], hn::LoadU(d, to));
        sum[i][1] = hn::Add(sum[i][1], hn::LoadU(d, to + lanes));
      }
      hn::StoreU(sum[i][0], d, to);
      hn::StoreU(sum[i][1], d, to + lanes);
    }
    return;
  }
  HWY_ALIGN float rows[height][panel_width];
  HWY_UNROLL(16)
  for (int i = 0; i < height; ++i) {
    hn::Store(sum[i][0], d, rows[i]);
    hn::Store(sum[i][1], d, rows[i] + lanes);
  }
  for (int i = 0; i < a.count; ++i) {
    float* to = &out(a.first + i, b.first);
    for (int j = 0; j < b.count; ++j) to[j] = add ? to[j] + rows[i][j] : rows[i][j];
  }
}

// One slab of the product: its panels, and the tasks that pack and multiply them.
class Slab {
 public:
  Slab(MatrixView a, MatrixView b, MatrixSpan out) : out_(out) {
    for (int i = 0; i < a.rows();) {
      // A tall panel, or low ones if two low ones end nearer to the last row than a tall one.
      const int left = a.rows() - i;
      const int height = left <= low || (left > tall && left <= 2 * low) ? low : tall;
      rows_.push_back({i, std::min(height, left), height, nullptr, {}});
      i += height;
    }
    for (int j = 0; j < b.columns(); j += panel_width)
      columns_.push_back({j, std::min(panel_width, b.columns() - j), panel_width, nullptr, {}});
    const int depth = std::min(a.columns(), slab_depth);
    size_t floats = 0;
    for (const Panel& panel : columns_) floats += size_of(panel, depth);
    for (const Panel& panel : rows_) floats += size_of(panel, depth);
    float* next = scratch(floats);
    for (std::vector<Panel>* panels : {&columns_, &rows_})
      for (Panel& panel : *panels) {
        panel.data = next;
        next += size_of(panel, depth);
      }
  }

  // Adds columns k ... k + depth - 1 of a times those rows of b, or writes them where k is 0.
  void run(MatrixView a, MatrixView b, int k, int depth, bool threads) {
    const int column_panels = static_cast<int>(columns_.size());
    const int row_panels = static_cast<int>(rows_.size());
    const auto pack = [&](int task) {
      if (task < column_panels) return pack_b(b, k, depth, columns_[static_cast<size_t>(task)]);
      const int first = packed_together * (task - column_panels);
      for (int p = first; p < std::min(first + packed_together, row_panels); ++p)
        pack_a(a, k, depth, rows_[static_cast<size_t>(p)]);
    };
    const int across = (column_panels + tile_columns - 1) / tile_columns;
    const int down = (row_panels + tile_rows - 1) / tile_rows;
    // From the last rows up: the long rows of a causal matrix come first, the short ones fill the
    // gaps.
    const auto multiply_task = [&](int task) {
      multiply_tiles(down - 1 - task / across, task % across, k > 0);
    };
    const int pack_tasks = column_panels + (row_panels + packed_together - 1) / packed_together;
    if (threads) {
      parallel_for(pack_tasks, pack);
      parallel_for(across * down, multiply_task);
    } else {
      for (int task = 0; task < pack_tasks; ++task) pack(task);
      for (int task = 0; task < across * down; ++task) multiply_task(task);
    }
  }

 private:
  static size_t size_of(const Panel& panel, int depth) {
    return (static_cast<size_t>(panel.height) * static_cast<size_t>(depth) + 15) / 16 * 16;
  }

  static void pack_a(MatrixView a, int k, int depth, Panel& panel) {
    const MatrixView rows(a.row(panel.first).data() + k, panel.count, depth, a.stride());
    panel.band = band_of_rows(rows, depth);
    if (panel.height == tall)
      pack_rows<tall>(rows, panel.band, panel.data);
    else
      pack_rows<low>(rows, panel.band, panel.data);
  }

  static void pack_b(MatrixView b, int k, int depth, Panel& panel) {
    const float* from = b.row(k).data() + panel.first;
    panel.band = band_of_columns(from, b.stride(), panel.count, depth);
    pack_columns(from, b.stride(), panel.count, panel.band, panel.data);
  }

  void multiply_tiles(int block_row, int block_column, bool add) const {
    const auto end_of = [](int block, int step, const std::vector<Panel>& panels) {
      return std::min(static_cast<size_t>((block + 1) * step), panels.size());
    };
    const size_t last_column = end_of(block_column, tile_columns, columns_);
    const size_t last_row = end_of(block_row, tile_rows, rows_);
    for (size_t j = static_cast<size_t>(block_column * tile_columns); j < last_column; ++j)
      for (size_t i = static_cast<size_t>(block_row * tile_rows); i < last_row; ++i)
        multiply_panels(rows_[i], columns_[j], add);
  }

  void multiply_panels(const Panel& a, const Panel& b, bool add) const {
    const Band band{std::max(a.band.begin, b.band.begin), std::min(a.band.end, b.band.end)};
    if (band.begin < band.end) {
      if (a.height == tall)
        multiply_tile<tall>(a, b, band, add, out_);
      else
        multiply_tile<low>(a, b, band, add, out_);
    } else if (!add) {
      for (int i = 0; i < a.count; ++i) std::fill_n(&out_(a.first + i, b.first), b.count, 0.0f);
    }
  }

  MatrixSpan out_;
  std::vector<Panel> rows_, columns_;
};

void multiply(MatrixView a, MatrixView b, MatrixSpan out) {
  const int depth = a.columns();
  if (depth == 0)
    for (int i = 0; i < out.rows(); ++i) std::fill_n(out.row(i).data(), out.columns(), 0.0f);
  if (out.rows() == 0 || out.columns() == 0 || depth == 0) return;
  // Slabs of equal depth: a short last one would cost a pass over out for little work.
  const int slabs = (depth + slab_depth - 1) / slab_depth;
  const int step = (depth + slabs - 1) / slabs;
  // A smaller product is done before another thread wakes up.
  const bool threads = double(out.rows()) * out.columns() * depth > 96.0 * 96 * 96;
  Slab slab(a, b, out);
  for (int k = 0; k < depth; k += step) slab.run(a, b, k, std::min(step, depth - k), threads);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_MULTIPLY_INL_H
