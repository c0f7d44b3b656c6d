// What a page unpacks with DecompressionStream.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// The bytes as a gzip file. `level` is zlib's: 1 is fast, 9 is small. The same bytes give the same
/// file: it holds no name and no time.
std::string gzip_of(std::string_view bytes, int level = 9);

}  // namespace headwater
