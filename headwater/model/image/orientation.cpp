#include "headwater/model/image/orientation.h"

#include <algorithm>
#include <string_view>

namespace headwater {
namespace {

using namespace std::string_view_literals;

constexpr uint32_t orientation_tag = 0x0112, short_type = 3, long_type = 4;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads numbers of a TIFF file in its byte order; 0 outside the file.
struct Tiff {
  std::string_view bytes;
  bool big = false;

  uint32_t at(size_t place, size_t count) const {
    if (place > bytes.size() || count > bytes.size() - place) return 0;
    uint32_t number = 0;
    for (size_t k = 0; k < count; ++k) {
      const size_t shift = 8 * (big ? count - 1 - k : k);
      number |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[place + k])) << shift;
    }
    return number;
  }
};

}  // namespace

std::optional<int> exif_orientation(std::span<const std::byte> exif) {
  std::string_view bytes = text_of(exif);
  for (int times = 0; times < 2 && bytes.starts_with("Exif\0\0"sv); ++times) bytes.remove_prefix(6);
  if (!bytes.starts_with("II*\0"sv) && !bytes.starts_with("MM\0*"sv)) return {};
  const Tiff tiff{bytes, bytes[0] == 'M'};
  const size_t directory = tiff.at(4, 4);
  std::optional<int> found;
  for (size_t k = 0; k < tiff.at(directory, 2); ++k) {
    const size_t entry = directory + 2 + 12 * k;
    if (tiff.at(entry, 2) != orientation_tag || tiff.at(entry + 4, 4) != 1) continue;
    const uint32_t type = tiff.at(entry + 2, 2);
    const uint32_t value = type == short_type  ? tiff.at(entry + 8, 2)
                           : type == long_type ? tiff.at(entry + 8, 4)
                                               : 0;
    if (value >= 1 && value <= 8) found = static_cast<int>(value);
  }
  return found;
}

std::optional<int> xmp_orientation(std::span<const std::byte> xmp) {
  constexpr std::string_view key = "tiff:Orientation";
  const std::string_view text = text_of(xmp);
  for (size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    std::string_view rest = text.substr(at + key.size());
    if (rest.starts_with("=\""))
      rest.remove_prefix(2);
    else if (rest.starts_with(">"))
      rest.remove_prefix(1);
    else
      continue;
    if (rest.empty() || rest[0] < '0' || rest[0] > '9') continue;
    if (rest[0] >= '1' && rest[0] <= '8') return rest[0] - '0';
    return {};
  }
  return {};
}

Image upright(Image image, int orientation) {
  if (orientation < 2 || orientation > 8) return image;
  const bool sideways = orientation >= 5;  // rows become columns
  Image out(sideways ? image.height : image.width, sideways ? image.width : image.height);
  // 5 to 8 are 1, 4, 3, 2 after rows and columns are swapped, as Exif defines them.
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (int y = 0; y < out.height; ++y) {
    const std::span<uint8_t> to = out.row(y);
    for (int x = 0; x < out.width; ++x) {
      int from_x = sideways ? y : x, from_y = sideways ? x : y;
      if (from_right) from_x = image.width - 1 - from_x;
      if (from_bottom) from_y = image.height - 1 - from_y;
      std::copy_n(image.row(from_y).begin() + std::ptrdiff_t{3} * from_x, 3,
                  to.begin() + std::ptrdiff_t{3} * x);
    }
  }
  return out;
}

}  // namespace headwater
