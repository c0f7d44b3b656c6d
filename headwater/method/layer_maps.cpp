#include "headwater/method/layer_maps.h"

#include <algorithm>

namespace headwater {

std::vector<Matrix> maps_of(Source& source, const Attribution& result) {
  std::vector<Matrix> maps;
  source.layers(result.options.fuse, result.layers, Direction::up, [&](int, MatrixSpan map) {
    Matrix& copy = maps.emplace_back(map.rows(), map.columns());
    for (int i = 0; i < map.rows(); ++i) std::ranges::copy(map.row(i), copy.row(i).begin());
  });
  return maps;
}

}  // namespace headwater
