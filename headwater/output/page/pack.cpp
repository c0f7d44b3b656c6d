#include "headwater/output/page/pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "headwater/output/page/base64.h"
#include "headwater/output/page/gzip.h"

namespace headwater {
namespace {

constexpr size_t most_in_full = 4096;           // numbers
constexpr size_t most_in_half = 1'500'000;      // numbers
constexpr size_t sample_bytes = 1 << 18;        // to see which order of bytes packs better
constexpr size_t quick_from = size_t{1} << 22;  // bytes from which level 6 is enough

// |number| <= 1, to the nearest, ties to even.
uint16_t half_of(float number) {
  const uint32_t bits = std::bit_cast<uint32_t>(number);
  const uint32_t sign = bits >> 16 & 0x8000;
  const float size = std::abs(number);
  constexpr float smallest_normal = 6.103515625e-05f;  // 2^-14
  if (size < smallest_normal)
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(size * 16777216.0f)));
  const uint32_t rest = bits & 0x7FFFFFFF;
  const uint32_t rounded = rest + 0xFFF + (rest >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - ((127 - 15) << 10)));
}

uint8_t log_of(float number, bool with_signs) {
  if (number == 0) return 0;
  const double place = std::log2(std::abs(static_cast<double>(number)));
  if (!with_signs) {
    const long q = 255 + std::lround(20 * place);
    return static_cast<uint8_t>(std::clamp(q, 0L, 255L));
  }
  const long q = 127 + std::lround(10 * place);
  if (q <= 0) return 0;
  return static_cast<uint8_t>(2 * q + (number < 0 ? 1 : 0));
}

float largest_of(std::span<const float> row) {
  float most = 0;
  for (const float number : row) most = std::max(most, std::abs(number));
  return most;
}

size_t bytes_of(Coding coding) { return coding == Coding::f32 ? 4 : coding == Coding::f16 ? 2 : 1; }

void put_number(std::string& planes, size_t place, size_t plane, float number, Coding coding,
                bool with_signs) {
  uint32_t bits = 0;
  if (coding == Coding::f32) bits = std::bit_cast<uint32_t>(number);
  if (coding == Coding::f16) bits = half_of(number);
  if (coding == Coding::log8) bits = log_of(number, with_signs);
  const size_t count = bytes_of(coding);
  for (size_t b = 0; b < count; ++b)
    planes[b * plane + place] = static_cast<char>(bits >> (8 * (count - 1 - b)) & 255);
}

std::string planes_of(const Matrix& matrix, const Vector& scale, Coding coding, bool with_signs) {
  std::string planes(matrix.size() * bytes_of(coding), '\0');
  size_t place = 0;
  for (int i = 0; i < matrix.rows(); ++i) {
    const float most = scale[static_cast<size_t>(i)];
    for (const float number : matrix.row(i)) {
      const float share = coding == Coding::f32 ? number : most > 0 ? number / most : 0.0f;
      put_number(planes, place++, matrix.size(), share, coding, with_signs);
    }
  }
  return planes;
}

// Each row less the one above it, in every plane.
std::string differences(const std::string& planes, size_t columns, size_t plane) {
  std::string out = planes;
  for (size_t start = 0; start < planes.size(); start += plane)
    for (size_t k = columns; k < plane; ++k)
      out[start + k] = static_cast<char>(planes[start + k] - planes[start + k - columns]);
  return out;
}

// Whether differences pack better, by a look at the start of the first plane.
bool better_as_differences(const std::string& planes, size_t columns, size_t plane) {
  const std::string sample = planes.substr(0, std::min(plane, sample_bytes));
  return gzip_of(differences(sample, columns, sample.size()), 6).size() < gzip_of(sample, 6).size();
}

}  // namespace

Coding coding_for(size_t count) {
  if (count <= most_in_full) return Coding::f32;
  return count <= most_in_half ? Coding::f16 : Coding::log8;
}

bool has_negative(std::span<const Matrix> matrices) {
  return std::ranges::any_of(matrices, [](const Matrix& matrix) {
    return std::any_of(matrix.data(), matrix.data() + matrix.size(), [](float x) { return x < 0; });
  });
}

Document packed(const Matrix& matrix, Coding coding, bool with_signs) {
  Vector scale;
  for (int i = 0; i < matrix.rows(); ++i) scale.push_back(largest_of(matrix.row(i)));
  std::string planes = planes_of(matrix, scale, coding, with_signs);
  const auto columns = static_cast<size_t>(matrix.columns());
  const bool difference =
      matrix.rows() > 1 && better_as_differences(planes, columns, matrix.size());
  if (difference) planes = differences(planes, columns, matrix.size());
  const std::string_view full(reinterpret_cast<const char*>(scale.data()),
                              scale.size() * sizeof(float));
  constexpr const char* names[] = {"f32", "f16", "log8"};
  Document out;
  out.fields = {
      {"rows", int64_t{matrix.rows()}},
      {"columns", int64_t{matrix.columns()}},
      {"coding", std::string(names[static_cast<int>(coding)])},
      {"difference", difference},
      {"scale", base64_of(gzip_of(full))},
      {"data", base64_of(gzip_of(planes, planes.size() < quick_from ? 9 : 6))},
  };
  return out;
}

}  // namespace headwater
