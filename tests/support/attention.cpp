#include "tests/support/attention.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace headwater::test {

size_t Attention::place(int l, int b, int h, int i, int j) const {
  return static_cast<size_t>((((l * items + b) * heads + h) * n + i) * n + j);
}

Attention random_attention(int layers, int items, int heads, int n, unsigned seed,
                           Weights weights) {
  Attention out{layers, items, heads, n, {}};
  std::mt19937 bits(seed);
  std::exponential_distribution<double> weight(1);
  const int rows = layers * items * heads * n;
  for (int r = 0; r < rows; ++r) {
    std::vector<double> row(static_cast<size_t>(n), 0);
    if (weights == Weights::exact) {
      for (int unit = 0; unit < 64; ++unit) row[bits() % static_cast<unsigned>(n)] += 1.0 / 64;
    } else {
      const int filled = weights == Weights::causal ? r % n + 1 : n;
      double sum = 0;
      for (int j = 0; j < filled; ++j) sum += row[static_cast<size_t>(j)] = weight(bits);
      for (double& value : row) value /= sum;
    }
    out.values.insert(out.values.end(), row.begin(), row.end());
  }
  return out;
}

Attention layer_of(const Attention& all, int layer) {
  Attention one{1, all.items, all.heads, all.n, {}};
  const auto begin = all.values.begin() + static_cast<long>(all.place(layer, 0, 0, 0, 0));
  one.values.assign(begin, begin + static_cast<long>(all.values.size()) / all.layers);
  return one;
}

std::vector<int64_t> shape_of(const Attention& attention, const std::string& letters) {
  std::vector<int64_t> shape;
  for (char c : letters)
    shape.push_back(c == 'L'   ? attention.layers
                    : c == 'B' ? attention.items
                    : c == 'H' ? attention.heads
                               : attention.n);
  return shape;
}

std::vector<double> laid_out(const Attention& attention, const std::string& letters) {
  const std::vector<int64_t> shape = shape_of(attention, letters);
  std::vector<int> at(letters.size(), 0);
  std::vector<double> values;
  for (size_t k = 0; k < attention.values.size(); ++k) {
    int l = 0, b = 0, h = 0, i = -1, j = 0;
    for (size_t axis = 0; axis < letters.size(); ++axis) {
      switch (letters[axis]) {
        case 'L':
          l = at[axis];
          break;
        case 'B':
          b = at[axis];
          break;
        case 'H':
          h = at[axis];
          break;
        default:
          (i < 0 ? i : j) = at[axis];
      }
    }
    values.push_back(attention.at(l, b, h, i, j));
    for (size_t axis = letters.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
  return values;
}

std::string json_lists(const std::vector<int64_t>& shape, const std::vector<double>& values) {
  std::string text;
  for (size_t k = 0; k < values.size(); ++k) {
    size_t opens = 0, block = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      block *= static_cast<size_t>(shape[axis]);
      if (k % block == 0) ++opens;
    }
    if (k > 0) text += std::string(opens, ']') + ",";
    text += std::string(opens, '[') + fmt::format("{}", values[k]);
  }
  return text + std::string(shape.size(), ']');
}

std::vector<Matrix> maps_of(Source& source, Fuse fuse, Direction direction) {
  std::vector<Matrix> maps;
  const int layers = source.description().layers;
  source.layers(fuse, {0, layers}, direction, [&](int layer, MatrixSpan map) {
    EXPECT_EQ(layer, direction == Direction::up ? static_cast<int>(maps.size())
                                                : layers - 1 - static_cast<int>(maps.size()));
    Matrix copy(map.rows(), map.columns());
    for (int i = 0; i < map.rows(); ++i) std::ranges::copy(map.row(i), copy.row(i).begin());
    maps.push_back(std::move(copy));
  });
  if (direction == Direction::down) std::reverse(maps.begin(), maps.end());
  return maps;
}

namespace {

double fused(const Attention& attention, Fuse fuse, int l, int b, int i, int j) {
  double sum = 0, most = 0, least = 1;
  for (int h = 0; h < attention.heads; ++h) {
    const double value = attention.at(l, b, h, i, j);
    if (fuse.kind == Fuse::Kind::head && (fuse.head + attention.heads) % attention.heads == h)
      return value;
    sum += value;
    most = std::max(most, value);
    least = std::min(least, value);
  }
  return fuse == Fuse::mean ? sum / attention.heads : fuse == Fuse::max ? most : least;
}

}  // namespace

void expect_maps(Batch& batch, const Attention& attention, Fuse fuse) {
  ASSERT_EQ(batch.size(), attention.items) << batch.reading();
  for (int b = 0; b < attention.items; ++b) {
    const auto source = batch.item(b);
    ASSERT_EQ(source->description().layers, attention.layers) << batch.reading();
    ASSERT_EQ(source->description().tokens.size(), static_cast<size_t>(attention.n));
    for (Direction direction : {Direction::down, Direction::up}) {
      const std::vector<Matrix> maps = maps_of(*source, fuse, direction);
      for (int l = 0; l < attention.layers; ++l)
        for (int i = 0; i < attention.n; ++i)
          for (int j = 0; j < attention.n; ++j)
            ASSERT_NEAR(maps[static_cast<size_t>(l)](i, j), fused(attention, fuse, l, b, i, j),
                        1e-6)
                << batch.reading() << ": layer " << l << ", item " << b << ", row " << i
                << ", column " << j;
    }
  }
}

}  // namespace headwater::test
