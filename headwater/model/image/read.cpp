#include "headwater/model/image/read.h"

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/model/image/jpeg.h"
#include "headwater/model/image/orientation.h"
#include "headwater/model/image/png.h"

namespace headwater {
namespace {

constexpr int64_t most_pixels = int64_t{1} << 28, most_a_side = 1'000'000;
constexpr int64_t few_pixels = int64_t{1} << 24;  // safe to allocate, whatever the file holds

bool begins_with(std::span<const std::byte> bytes, std::initializer_list<int> with) {
  if (bytes.size() < with.size()) return false;
  size_t k = 0;
  for (const int value : with)
    if (std::to_integer<int>(bytes[k++]) != value) return false;
  return true;
}

}  // namespace

void check_size(int64_t width, int64_t height, size_t bytes, double pixels_a_byte,
                const std::string& name) {
  if (width < 1 || height < 1)
    fail("{}: has {} x {} pixels, expected at least one; get the file again", name, width, height);
  if (width > most_a_side || height > most_a_side || width * height > most_pixels)
    fail("{}: has {} x {} pixels, expected at most {} and {} a side; make it smaller first", name,
         width, height, most_pixels, most_a_side);
  if (width * height > few_pixels &&
      static_cast<double>(width * height) > pixels_a_byte * static_cast<double>(bytes))
    fail(
        "{}: claims {} x {} pixels in {} bytes, expected more bytes for that many; get the file "
        "again",
        name, width, height, bytes);
}

Image read_image(const std::string& path) {
  const MappedFile file(path);
  return read_image(file.bytes(), path);
}

Image read_image(std::span<const std::byte> bytes, const std::string& name) {
  DecodedImage found;
  if (begins_with(bytes, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'}))
    found = read_png(bytes, name);
  else if (begins_with(bytes, {0xFF, 0xD8, 0xFF}))
    found = read_jpeg(bytes, name);
  else
    fail("{}: is neither a PNG nor a JPEG image, expected one of them; convert it", name);
  return upright(std::move(found.image), found.orientation);
}

}  // namespace headwater
