// Pixels in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headwater {

/// Red, green and blue, one byte each, row by row from the top. A value type: copies are deep.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> bytes;  // 3 * width * height

  Image() = default;
  /// All black. Neither side may be negative.
  Image(int width, int height);

  bool empty() const { return bytes.empty(); }
  /// 3 * width bytes, 0 <= y < height.
  std::span<uint8_t> row(int y);
  std::span<const uint8_t> row(int y) const;

  bool operator==(const Image&) const = default;
};

}  // namespace headwater
