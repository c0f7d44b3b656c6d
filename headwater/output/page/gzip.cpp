#include "headwater/output/page/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace headwater {

std::string gzip_of(std::string_view bytes, int level) {
  constexpr int with_gzip_header = 15 + 16;
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, with_gzip_header, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out;
  std::string room(size_t{1} << 16, '\0');
  int state = Z_OK;
  do {
    const size_t part = std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(part);
    bytes.remove_prefix(part);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      state = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      out.append(room, 0, room.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (state != Z_STREAM_END);
  deflateEnd(&stream);
  return out;
}

}  // namespace headwater
