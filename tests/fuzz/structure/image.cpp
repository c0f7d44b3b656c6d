#include "tests/fuzz/structure/image.h"

#include <zlib.h>

#include <algorithm>
#include <string>

#include "tests/fuzz/structure/bytes.h"

namespace headwater::fuzz {
namespace {

constexpr std::string_view png_start = "\x89PNG\r\n\x1a\n";

struct ImagePart {
  std::string kind, bytes;  // the name of a chunk; the marker of a segment
};

std::vector<ImagePart> chunks_of(std::string_view file) {
  std::vector<ImagePart> out;
  for (size_t at = png_start.size(); at < file.size() && file.size() - at >= 8;) {
    const uint64_t size = std::min<uint64_t>(number_at(file, at, 4, true), file.size() - at - 8);
    out.push_back({std::string(file.substr(at + 4, 4)), std::string(file.substr(at + 8, size))});
    at += std::min<size_t>(12 + size, file.size() - at);
  }
  return out;
}

std::string png_of(const std::vector<ImagePart>& parts) {
  std::string out(png_start);
  for (const ImagePart& part : parts) {
    const std::string both = part.kind + part.bytes;
    out += number(part.bytes.size(), 4, true) + both +
           number(crc32(0, reinterpret_cast<const Bytef*>(both.data()),
                        static_cast<uInt>(both.size())),
                  4, true);
  }
  return out;
}

void change_chunk(ImagePart& part, Chance& chance) {
  static constexpr const char* kinds[] = {"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "iCCP",
                                          "eXIf", "sBIT", "tEXt", "zTXt", "iTXt", "bKGD", "pHYs",
                                          "acTL", "fcTL", "fdAT", "cHRM", "hIST"};
  if (chance.one_in(8)) {
    part.kind = chance.pick(kinds);
  } else if (part.kind == "IHDR" && part.bytes.size() == 13) {
    const size_t at = chance.below(7);
    static constexpr int depths[] = {1, 2, 4, 8, 16, 3};
    if (at < 2)
      part.bytes.replace(
          at * 4, 4,
          number(chance.one_in(4) ? edge_number(chance) : 1 + chance.below(40), 4, true));
    else if (at == 2)
      part.bytes[8] = static_cast<char>(chance.pick(depths));
    else
      part.bytes[6 + at] = static_cast<char>(chance.below(at == 3 ? 8 : 3));
  } else if (part.kind == "IDAT" && !chance.one_in(4)) {
    std::string pixels = inflated(part.bytes, MAX_WBITS, 1 << 18);
    pixels = chance.one_in(3) ? pixels + pixels : changed_bytes(pixels, chance);
    part.bytes = deflated(pixels.substr(0, 1 << 16), MAX_WBITS);
  } else {
    part.bytes = changed_bytes(part.bytes, chance);
  }
}

// A scan belongs to the segment before it.
std::vector<ImagePart> segments_of(std::string_view file) {
  std::vector<ImagePart> out;
  for (size_t at = 2; at < file.size() && file.size() - at >= 2;) {
    size_t end = at + 2 + number_at(file, at + 2, 2, true);
    while (end < file.size() &&
           !(file[end] == '\xff' && end + 1 < file.size() && file[end + 1] != '\0' &&
             !(file[end + 1] >= '\xd0' && file[end + 1] <= '\xd7')))
      ++end;
    end = std::min(end, file.size());
    out.push_back({std::string(file.substr(at, 2)),
                   std::string(file.substr(at + 2, end - std::min(at + 2, end)))});
    at = std::max(end, at + 2);
  }
  return out;
}

void change_segment(ImagePart& part, Chance& chance) {
  static constexpr const char* markers[] = {
      "\xff\xc0", "\xff\xc1", "\xff\xc2", "\xff\xc4", "\xff\xd9", "\xff\xda", "\xff\xdb",
      "\xff\xdd", "\xff\xe0", "\xff\xe1", "\xff\xee", "\xff\xfe", "\xff\xc9"};
  if (chance.one_in(8)) {
    part.kind = chance.pick(markers);
    return;
  }
  if (part.bytes.size() < 2) return;
  const size_t length = std::min<size_t>(number_at(part.bytes, 0, 2, true), part.bytes.size());
  if (length < 2 || chance.one_in(8)) {
    part.bytes = changed_bytes(part.bytes, chance);
  } else if (length < part.bytes.size() && chance.one_in(2)) {
    part.bytes = part.bytes.substr(0, length) + changed_bytes(part.bytes.substr(length), chance);
  } else {
    const std::string inside = changed_bytes(part.bytes.substr(2, length - 2), chance);
    part.bytes = number(inside.size() + 2, 2, true) + inside + part.bytes.substr(length);
  }
}

}  // namespace

std::string changed_image(std::string_view file, Chance& chance) {
  if (file.starts_with(png_start)) {
    std::vector<ImagePart> parts = chunks_of(file);
    change_list(parts, chance, [&](ImagePart& part) { change_chunk(part, chance); });
    return png_of(parts);
  }
  if (!file.starts_with("\xff\xd8")) return std::string(file);
  std::vector<ImagePart> parts = segments_of(file);
  change_list(parts, chance, [&](ImagePart& part) { change_segment(part, chance); });
  std::string out = "\xff\xd8";
  for (const ImagePart& part : parts) out += part.kind + part.bytes;
  return out;
}

}  // namespace headwater::fuzz
