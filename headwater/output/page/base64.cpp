#include "headwater/output/page/base64.h"

#include <cstdint>

namespace headwater {

std::string base64_of(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t k = 0; k < bytes.size(); k += 3) {
    uint32_t three = 0;
    for (size_t b = 0; b < 3; ++b)
      three = three << 8 | (k + b < bytes.size() ? static_cast<uint8_t>(bytes[k + b]) : 0);
    for (size_t d = 0; d < 4; ++d)
      out += k + d > bytes.size() ? '=' : digits[three >> (18 - 6 * d) & 63];
  }
  return out;
}

}  // namespace headwater
