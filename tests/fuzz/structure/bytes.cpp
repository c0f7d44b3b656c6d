#include "tests/fuzz/structure/bytes.h"

#include <zlib.h>

namespace headwater::fuzz {

std::string number(uint64_t value, int size, bool big) {
  std::string out;
  for (int k = 0; k < size; ++k) out += static_cast<char>(value >> (8 * (big ? size - 1 - k : k)));
  return out;
}

uint64_t number_at(std::string_view bytes, size_t at, int size, bool big) {
  uint64_t out = 0;
  for (int k = 0; k < size; ++k) {
    const size_t place = at + static_cast<size_t>(big ? size - 1 - k : k);
    if (place < bytes.size()) out |= uint64_t{static_cast<unsigned char>(bytes[place])} << (8 * k);
  }
  return out;
}

std::string inflated(std::string_view bytes, int window, size_t most) {
  std::string out(most, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, window) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

std::string deflated(std::string_view bytes, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace headwater::fuzz
