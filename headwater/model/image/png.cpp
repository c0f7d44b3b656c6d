#include "headwater/model/image/png.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "headwater/core/fail.h"
#include "headwater/model/image/orientation.h"
#include "headwater/model/image/read.h"

namespace headwater {
namespace {

constexpr double deflated = 1032;  // zlib never expands data more than this many times
constexpr size_t signature = 8;

// libpng reports errors by longjmp, which runs no destructors. So objects with destructors are
// members of this class or belong to its callers, and functions with setjmp hold only plain
// numbers.
class PngReader {
 public:
  PngReader(std::span<const std::byte> bytes, std::string name)
      : rest_(bytes), size_(bytes.size()), name_(std::move(name)) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      fail("{}: libpng could not start, expected memory for it; free some", name_);
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Image read() {
    if (!read_header()) refuse();
    const int width = static_cast<int>(png_get_image_width(png_, info_)),
              height = static_cast<int>(png_get_image_height(png_, info_));
    const double bits = png_get_bit_depth(png_, info_) * png_get_channels(png_, info_);
    check_size(width, height, size_, 8 * deflated / bits, name_);
    if (!prepare()) refuse();

    Image image(width, height);
    const bool coloured = png_get_color_type(png_, info_) == PNG_COLOR_TYPE_RGB;
    const size_t row_bytes = png_get_rowbytes(png_, info_);
    if (!coloured) room_.resize(row_bytes * static_cast<size_t>(height));
    for (int y = 0; y < height; ++y)
      rows_.push_back(coloured ? image.row(y).data()
                               : room_.data() + row_bytes * static_cast<size_t>(y));
    if (!read_rows()) refuse();
    if (!coloured) colour(image);
    return image;
  }

 private:
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, on_read);
    // Skips texts, profiles and similar without reading them.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    return true;
  }

  // Converts to 8 bits without alpha, except 16-bit grey, which Pillow does not shorten.
  bool prepare() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const int type = png_get_color_type(png_, info_);
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_packing(png_);
    if (type != PNG_COLOR_TYPE_GRAY) png_set_strip_16(png_);
    if ((type & PNG_COLOR_MASK_ALPHA) != 0) png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool read_rows() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows_.data());
    return true;
  }

  // Converts grey or palette to colours.
  void colour(Image& image) {
    std::array<png_color, 256> colours = {};
    png_color* palette = nullptr;
    int count = 0;
    const bool indexed = png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE;
    if (indexed && png_get_PLTE(png_, info_, &palette, &count) != 0)
      std::copy_n(palette, std::clamp(count, 0, 256), colours.begin());
    if (!indexed)
      for (size_t k = 0; k < colours.size(); ++k) {
        const png_byte grey = static_cast<png_byte>(k);
        colours[k] = {grey, grey, grey};
      }
    const bool wide = png_get_bit_depth(png_, info_) == 16;
    for (int y = 0; y < image.height; ++y) {
      const uint8_t* from = rows_[static_cast<size_t>(y)];
      uint8_t* to = image.row(y).data();
      for (int x = 0; x < image.width; ++x) {
        const uint8_t number = !wide ? from[x] : from[2 * x] != 0 ? 255 : from[2 * x + 1];
        const png_color& c = colours[number];
        *to++ = c.red;
        *to++ = c.green;
        *to++ = c.blue;
      }
    }
  }

  [[noreturn]] void refuse() {
    fail("{}: is a damaged PNG ({}), expected a whole one; get the file again", name_,
         message_.data());
  }

  static void on_error(png_struct* png, const char* message) {
    PngReader* self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(self->message_.data(), message, self->message_.size() - 1);
    png_longjmp(png, 1);
  }
  static void on_warning(png_struct*, const char*) {}
  static void on_read(png_struct* png, png_byte* out, size_t count) {
    PngReader* self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self->rest_.size()) png_error(png, "ends too early");
    std::memcpy(out, self->rest_.data(), count);
    self->rest_ = self->rest_.subspan(count);
  }

  std::span<const std::byte> rest_;
  size_t size_;
  std::string name_;
  png_struct* png_ = nullptr;
  png_info* info_ = nullptr;
  std::array<char, 160> message_ = {};
  std::vector<uint8_t> room_;
  std::vector<png_byte*> rows_;
};

std::span<const std::byte> after(std::span<const std::byte> bytes, std::string_view keyword) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(keyword) ? bytes.subspan(keyword.size()) : bytes.first(0);
}

// Chunks may be before or after the pixels. A truncated PNG is read as far as it goes.
int orientation_of(std::span<const std::byte> png) {
  std::optional<int> exif, xmp;
  std::span<const std::byte> rest = png.subspan(signature);
  while (rest.size() >= 12) {
    size_t size = 0;
    for (size_t k = 0; k < 4; ++k) size = size << 8 | std::to_integer<size_t>(rest[k]);
    if (size > rest.size() - 12) break;
    const std::string_view type(reinterpret_cast<const char*>(rest.data()) + 4, 4);
    const std::span<const std::byte> data = rest.subspan(8, size);
    if (type == "eXIf") exif = exif_orientation(data);
    if (type == "iTXt")
      if (const auto text = after(data, std::string_view("XML:com.adobe.xmp\0\0", 19));
          !text.empty())
        xmp = xmp_orientation(text);
    rest = rest.subspan(size + 12);
  }
  return exif ? *exif : xmp.value_or(1);
}

}  // namespace

DecodedImage read_png(std::span<const std::byte> bytes, const std::string& name) {
  return {PngReader(bytes, name).read(), orientation_of(bytes)};
}

}  // namespace headwater
