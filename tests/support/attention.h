// Attention for tests, in the layout of any file, and a check that a source hands out the same
// maps.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headwater/source/source.h"

namespace headwater::test {

/// Weights in double, axes layer, item, head, row, column.
struct Attention {
  int layers = 1, items = 1, heads = 1, n = 1;
  std::vector<double> values;

  size_t place(int l, int b, int h, int i, int j) const;
  double at(int l, int b, int h, int i, int j) const { return values[place(l, b, h, i, j)]; }
  double& at(int l, int b, int h, int i, int j) { return values[place(l, b, h, i, j)]; }
};

enum class Weights {
  exact,   // multiples of 1/64: every float type holds them, and rows sum to exactly 1
  smooth,  // any double
  causal,  // the same, nothing above the diagonal
};
Attention random_attention(int layers, int items, int heads, int n, unsigned seed,
                           Weights weights = Weights::exact);

/// One layer of it as attention of its own.
Attention layer_of(const Attention& attention, int layer);

/// The values in the order of axes named as --axes names them; axes left out have length 1.
std::vector<double> laid_out(const Attention& attention, const std::string& letters);
std::vector<int64_t> shape_of(const Attention& attention, const std::string& letters);

/// Nested JSON lists.
std::string json_lists(const std::vector<int64_t>& shape, const std::vector<double>& values);

/// The maps that a source hands out, in the order of the layers, read in `direction`.
std::vector<Matrix> maps_of(Source& source, Fuse fuse = Fuse::mean,
                            Direction direction = Direction::up);

/// Expects that every item of `batch` hands out the fused heads of `attention`, up and down.
void expect_maps(Batch& batch, const Attention& attention, Fuse fuse = Fuse::mean);

}  // namespace headwater::test
