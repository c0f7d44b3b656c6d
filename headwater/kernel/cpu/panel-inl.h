// Packs rows of a matrix for tile-inl.h: a vector has one number from each of several rows.
#if defined(HEADWATER_KERNEL_CPU_PANEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_PANEL_INL_H
#undef HEADWATER_KERNEL_CPU_PANEL_INL_H
#else
#define HEADWATER_KERNEL_CPU_PANEL_INL_H
#endif

#include <algorithm>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/tile-inl.h"
#include "headwater/kernel/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Two vectors of rows (or columns), or one if it holds the rest.
struct PackedPanel {
  int first, count;
  int width;  // as packed
};

inline std::vector<PackedPanel> panels_of(int rows) {
  std::vector<PackedPanel> panels;
  for (int first = 0; first < rows; first += wide_panel) {
    const int left = rows - first;
    const int width = left <= vector_floats ? vector_floats : wide_panel;
    panels.push_back({first, std::min(left, width), width});
  }
  return panels;
}

// The number of rows, with those that only pad the last panel.
inline size_t packed_rows(const std::vector<PackedPanel>& panels) {
  return panels.empty() ? 0 : static_cast<size_t>(panels.back().first + panels.back().width);
}

// to[k * width + i] = x(first + i, k); 0 for rows that only pad. Square by square, a vector from
// each row.
HWY_INLINE void pack_panel_rows(MatrixView x, const PackedPanel& panel, float* HWY_RESTRICT to) {
  const Floats d;
  for (int first = 0; first < panel.width; first += vector_floats) {
    const int rows = std::clamp(panel.count - first, 0, vector_floats);
    const float* from = x.data() + (panel.first + first) * x.stride();
    for (int k = 0; k < x.columns(); k += vector_floats) {
      const int some = std::min(vector_floats, x.columns() - k);
      FloatVec v[lanes];
      if (rows == vector_floats && some == vector_floats) {
        HWY_UNROLL(16)
        for (int i = 0; i < vector_floats; ++i) v[i] = hn::LoadU(d, from + i * x.stride() + k);
      } else {
        for (int i = 0; i < rows; ++i)
          v[i] = some == vector_floats
                     ? hn::LoadU(d, from + i * x.stride() + k)
                     : load_first(d, from + i * x.stride() + k, static_cast<size_t>(some));
        for (int i = rows; i < vector_floats; ++i) v[i] = hn::Zero(d);
      }
      transpose_lanes(v);
      for (int i = 0; i < some; ++i) hn::Store(v[i], d, to + (k + i) * panel.width + first);
    }
  }
}

// to[j * width + i] = x(j, first + i); 0 for columns that only pad.
HWY_INLINE void pack_panel_columns(MatrixView x, const PackedPanel& panel, float* HWY_RESTRICT to) {
  const Floats d;
  const auto last = static_cast<size_t>(panel.count % vector_floats);
  const int whole = panel.count / vector_floats * vector_floats;
  for (int j = 0; j < x.rows(); ++j) {
    const float* from = x.row(j).data() + panel.first;
    float* row = to + j * panel.width;
    for (int i = 0; i < whole; i += vector_floats) hn::Store(hn::LoadU(d, from + i), d, row + i);
    if (last > 0) hn::Store(load_first(d, from + whole, last), d, row + whole);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_PANEL_INL_H
