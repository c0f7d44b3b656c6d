// Half-open ranges of layers, and the direction through them.
#pragma once

namespace headwater {

/// begin, begin + 1, ..., end - 1.
struct Range {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

enum class Direction {
  up,    // from the lowest layer to the top
  down,  // from the top layer to the lowest
};

}  // namespace headwater
