#include "headwater/model/image/jpeg.h"

#include <jpeglib.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <string_view>
#include <vector>

#include "headwater/core/fail.h"
#include "headwater/model/image/orientation.h"
#include "headwater/model/image/read.h"

namespace headwater {
namespace {

using namespace std::string_view_literals;

constexpr double most_pixels_a_byte = 1024;  // a bit for each block of 8 x 8, with a margin of 2
constexpr int64_t usual_scans = 20, scanned_pixels = int64_t{1} << 25;

// libjpeg reports errors through functions that must not return: here by longjmp, which runs no
// destructors. So objects with destructors are members of this class or belong to its callers, and
// functions with setjmp hold only plain numbers.
class JpegReader {
 public:
  JpegReader(std::span<const std::byte> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {
    decoder_.err = jpeg_std_error(&errors_);
    decoder_.client_data = this;
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    source_.init_source = nothing;
    source_.term_source = nothing;
    source_.fill_input_buffer = on_end;
    source_.skip_input_data = on_skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(bytes_.data());
    source_.bytes_in_buffer = bytes_.size();
    progress_.progress_monitor = on_progress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&decoder_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  DecodedImage read() {
    if (!read_header()) refuse();
    if (decoder_.num_components != 1 && decoder_.num_components != 3 &&
        decoder_.num_components != 4)
      fail("{}: has {} colours a pixel, expected 1, 3 or 4; convert it", name_,
           decoder_.num_components);
    const int width = static_cast<int>(decoder_.image_width),
              height = static_cast<int>(decoder_.image_height);
    check_size(width, height, bytes_.size(), most_pixels_a_byte, name_);
    if (!start()) refuse();

    DecodedImage out{Image(width, height), orientation()};
    room_.resize(static_cast<size_t>(width) * 4);
    for (int y = 0; y < height; ++y) {
      uint8_t* const row = out.image.row(y).data();
      if (!read_row(decoder_.out_color_space == JCS_RGB ? row : room_.data())) refuse();
      if (decoder_.out_color_space == JCS_GRAYSCALE) colour_grey(row, width);
      if (decoder_.out_color_space == JCS_CMYK) colour_inks(row, width);
    }
    return out;
  }

 private:
  bool read_header() {
    if (setjmp(errors_.place) != 0) return false;
    jpeg_create_decompress(&decoder_);
    decoder_.src = &source_;
    decoder_.progress = &progress_;
    jpeg_save_markers(&decoder_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&decoder_, TRUE);
    return true;
  }

  bool start() {
    if (setjmp(errors_.place) != 0) return false;
    decoder_.out_color_space = decoder_.num_components == 1   ? JCS_GRAYSCALE
                               : decoder_.num_components == 3 ? JCS_RGB
                                                              : JCS_CMYK;
    jpeg_start_decompress(&decoder_);
    return true;
  }

  bool read_row(uint8_t* row) {
    if (setjmp(errors_.place) != 0) return false;
    jpeg_read_scanlines(&decoder_, &row, 1);
    return true;
  }

  void colour_grey(uint8_t* to, int width) const {
    for (int x = 0; x < width; ++x)
      for (int k = 0; k < 3; ++k) *to++ = room_[static_cast<size_t>(x)];
  }

  // Stored values are 255 - ink. Each colour is what its ink and black leave of white: the product
  // of the two, divided by 255 in Pillow's way.
  void colour_inks(uint8_t* to, int width) const {
    const uint8_t* from = room_.data();
    for (int x = 0; x < width; ++x, from += 4)
      for (int k = 0; k < 3; ++k) {
        const int light = from[3], product = (255 - from[k]) * light + 128;
        *to++ = static_cast<uint8_t>(light - ((product >> 8) + product) / 256);
      }
  }

  int orientation() const {
    std::vector<std::byte> exif;  // may be split over several markers
    std::optional<int> xmp;
    for (const jpeg_marker_struct* marker = decoder_.marker_list; marker != nullptr;
         marker = marker->next) {
      const std::string_view text(reinterpret_cast<const char*>(marker->data), marker->data_length);
      const auto bytes = std::as_bytes(std::span(text));
      const std::string_view adobe = "http://ns.adobe.com/xap/1.0/\0"sv;
      if (text.starts_with("Exif\0\0"sv))
        exif.insert(exif.end(), bytes.begin() + (exif.empty() ? 0 : 6), bytes.end());
      else if (text.starts_with(adobe))
        xmp = xmp_orientation(bytes.subspan(adobe.size()));
    }
    const std::optional<int> found = exif_orientation(exif);
    return found ? *found : xmp.value_or(1);
  }

  [[noreturn]] void refuse() {
    fail("{}: is a damaged JPEG ({}), expected a whole one; get the file again", name_,
         message_.data());
  }

  struct Errors : jpeg_error_mgr {
    std::jmp_buf place;
  };
  static JpegReader& self(j_common_ptr common) {
    return *static_cast<JpegReader*>(common->client_data);
  }
  [[noreturn]] static void leave(j_common_ptr common, const char* message) {
    JpegReader& reader = self(common);
    std::snprintf(reader.message_.data(), reader.message_.size(), "%s", message);
    std::longjmp(reader.errors_.place, 1);
  }
  static void on_error(j_common_ptr common) {
    char message[JMSG_LENGTH_MAX];
    common->err->format_message(common, message);
    leave(common, message);
  }
  static void on_message(j_common_ptr, int) {}
  static void nothing(j_decompress_ptr) {}
  static boolean on_end(j_decompress_ptr decoder) {
    leave(reinterpret_cast<j_common_ptr>(decoder), "ends too early");
  }
  static void on_skip(j_decompress_ptr decoder, long count) {
    if (count <= 0) return;
    jpeg_source_mgr& source = *decoder->src;
    if (static_cast<size_t>(count) > source.bytes_in_buffer) on_end(decoder);
    source.next_input_byte += count;
    source.bytes_in_buffer -= static_cast<size_t>(count);
  }
  static void on_progress(j_common_ptr common) {
    const jpeg_decompress_struct& decoder = *reinterpret_cast<j_decompress_ptr>(common);
    const int64_t pixels = int64_t{decoder.image_width} * decoder.image_height;
    if (decoder.input_scan_number > usual_scans &&
        decoder.input_scan_number * pixels > scanned_pixels)
      leave(common, "too many scans");
  }

  std::span<const std::byte> bytes_;
  std::string name_;
  Errors errors_ = {};
  jpeg_source_mgr source_ = {};
  jpeg_progress_mgr progress_ = {};
  jpeg_decompress_struct decoder_ = {};
  std::array<char, JMSG_LENGTH_MAX> message_ = {};
  std::vector<uint8_t> room_;
};

}  // namespace

DecodedImage read_jpeg(std::span<const std::byte> bytes, const std::string& name) {
  return JpegReader(bytes, name).read();
}

}  // namespace headwater
