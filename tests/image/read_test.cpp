// Small images, checked by hand. tests/python/test_image_reading.py compares every kind of file
// with Pillow.
#include "headwater/model/image/read.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include "headwater/model/image/orientation.h"
#include "tests/support/expect_error.h"
#include "tests/support/hostile_folder.h"

namespace headwater::test {
namespace {

using namespace std::string_literals;

std::string big_endian(uint32_t number) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 255);
  return out;
}

std::string chunk(const std::string& body) {
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(body.size() - 4)) + body +
         big_endian(static_cast<uint32_t>(sum));
}

/// A PNG of 8 bits a sample; `lines` with a filter byte before each.
std::string png(uint32_t width, uint32_t height, char kind, const std::string& lines,
                const std::string& more = "") {
  std::string squeezed(compressBound(static_cast<uLong>(lines.size())), '\0');
  uLongf size = static_cast<uLongf>(squeezed.size());
  compress(reinterpret_cast<Bytef*>(squeezed.data()), &size,
           reinterpret_cast<const Bytef*>(lines.data()), static_cast<uLong>(lines.size()));
  squeezed.resize(size);
  return "\x89PNG\r\n\x1a\n"s +
         chunk("IHDR" + big_endian(width) + big_endian(height) + "\x08"s + kind + "\0\0\0"s) +
         more + chunk("IDAT" + squeezed) + chunk("IEND");
}

Image read_text(const std::string& text) {
  return read_image(std::as_bytes(std::span(text)), "x.png");
}

TEST(ReadImage, TakesColoursAsTheyAre) {
  const Image image = read_text(png(2, 2, 2, "\0\1\2\3\4\5\6\0\7\x8\x9\xa\xb\xc"s));
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.bytes, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(ReadImage, LooksUpPalettesAndDropsTransparency) {
  const std::string palette = chunk("PLTE\1\2\3\4\5\6"s) + chunk("tRNS\0\x80"s);
  EXPECT_EQ(read_text(png(3, 1, 3, "\0\1\0\2"s, palette)).bytes,
            (std::vector<uint8_t>{4, 5, 6, 1, 2, 3, 0, 0, 0}));
  EXPECT_EQ(read_text(png(1, 1, 4, "\0\x64\0"s)).bytes, (std::vector<uint8_t>{100, 100, 100}));
}

TEST(ReadImage, TurnsAsExifSays) {
  // Orientation 6, big endian: the image lies on its left side.
  const std::string exif = chunk("eXIfMM\0*\0\0\0\x8\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"s);
  const Image image = read_text(png(2, 1, 0, "\0\1\2"s, exif));
  EXPECT_EQ(image.width, 1);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.bytes, (std::vector<uint8_t>{1, 1, 1, 2, 2, 2}));
}

TEST(Upright, TurnsAndMirrors) {
  Image image(3, 1);  // a row of 1, 2, 3
  image.bytes = {1, 1, 1, 2, 2, 2, 3, 3, 3};
  const auto reds = [&](int orientation) {
    const Image out = upright(image, orientation);
    EXPECT_EQ(out.width, orientation < 5 || orientation > 8 ? 3 : 1) << orientation;
    return std::vector<int>{out.bytes[0], out.bytes[3], out.bytes[6]};
  };
  const std::vector<int> forth = {1, 2, 3}, back = {3, 2, 1};
  for (const int same : {0, 1, 4, 5, 6, 9}) EXPECT_EQ(reds(same), forth) << same;
  for (const int turned : {2, 3, 7, 8}) EXPECT_EQ(reds(turned), back) << turned;
}

TEST(Orientation, IsFoundOrNot) {
  const auto exif = [](const std::string& text) {
    return exif_orientation(std::as_bytes(std::span(text)));
  };
  const std::string directory = "\1\0\x12\1\3\0\1\0\0\0\x8\0\0\0\0\0\0\0"s;
  EXPECT_EQ(exif("II*\0\x8\0\0\0"s + directory), 8);
  EXPECT_EQ(exif("Exif\0\0II*\0\x8\0\0\0"s + directory), 8);
  EXPECT_EQ(exif("II*\0\x8\0\0\0"s + directory.substr(0, 9)), std::nullopt);
  EXPECT_EQ(exif("II*\0\xff\xff\xff\xff"s + directory), std::nullopt);
  EXPECT_EQ(exif("XX*\0\x8\0\0\0"s + directory), std::nullopt);
  EXPECT_EQ(exif(""), std::nullopt);
  const auto xmp = [](const std::string& text) {
    return xmp_orientation(std::as_bytes(std::span(text)));
  };
  EXPECT_EQ(xmp("<a tiff:Orientation=\"6\"/>"), 6);
  EXPECT_EQ(xmp("<tiff:Orientation>3</tiff:Orientation>"), 3);
  EXPECT_EQ(xmp("tiff:Orientation tiff:Orientation=\"9\""), std::nullopt);
  EXPECT_EQ(xmp("tiff:Orientation=\""), std::nullopt);
}

TEST(ReadImage, SaysWhatIsWrong) {
  const auto refused = [](const std::vector<std::string>& parts, const std::string& text) {
    expect_error(Error::Kind::work, parts, [&] { read_text(text); });
  };
  const std::string whole = png(2, 1, 0, "\0\1\2"s);
  refused({"x.png: is neither a PNG nor a JPEG"}, "hello");
  refused({"x.png: is a damaged PNG"}, whole.substr(0, 40));
  refused({"x.png: is a damaged PNG"}, png(2, 2, 0, "\0\1\2"s));
  refused({"x.png: is a damaged JPEG", "ends too early"}, "\xff\xd8\xff\xe0\0\x10JFIF"s);
  refused({"x.png: has 20000 x 20000 pixels", "268435456"}, png(20000, 20000, 0, "\0\1\2"s));
  refused({"x.png: claims 16000 x 16000 pixels"}, png(16000, 16000, 0, "\0\1\2"s));
}

TEST(HostileImages, AreRefusedOrReadAsRecorded) {
  expect_outcomes("image/hostile", "expected.txt", [](const std::string& path) {
    const Image image = read_image(path);
    double sum = 0;
    for (const uint8_t byte : image.bytes) sum += byte;
    return std::to_string(image.width) + " x " + std::to_string(image.height) +
           " pixels, mean brightness " +
           std::to_string(std::lround(sum / static_cast<double>(image.bytes.size())));
  });
}

TEST(HostileImages, AreEachNamedInTheReadme) { expect_named_in_readme("image/hostile"); }

}  // namespace
}  // namespace headwater::test
