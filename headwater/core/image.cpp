#include "headwater/core/image.h"

#include <cassert>

namespace headwater {
namespace {

size_t row_bytes(const Image& image) { return size_t{3} * static_cast<size_t>(image.width); }

}  // namespace

Image::Image(int width, int height)
    : width(width),
      height(height),
      bytes(size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height)) {
  assert(width >= 0 && height >= 0);
}

std::span<uint8_t> Image::row(int y) {
  return std::span(bytes).subspan(static_cast<size_t>(y) * row_bytes(*this), row_bytes(*this));
}

std::span<const uint8_t> Image::row(int y) const {
  return std::span(bytes).subspan(static_cast<size_t>(y) * row_bytes(*this), row_bytes(*this));
}

}  // namespace headwater
