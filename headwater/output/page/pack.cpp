#include "headwater/output/page/pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "headwater/output/page/base64.h"
#include "headwater/output/page/gzip.h"

namespace headwater {
namespace {

constexpr size_t most_in_full = 4096;        // numbers
constexpr size_t most_in_half = 1'500'000;   // numbers
constexpr size_t sample_bytes = 1 << 18;     // to see which order of bytes packs better
constexpr size_t large_from = 200'000;       // numbers of a matrix that must pack well
constexpr double most_bytes_in_half = 1.25;  // of a number in a large matrix
constexpr double most_bytes_in_root = 0.36;
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

uint16_t root_of(float number, bool with_signs, int steps) {
  const long q = std::lround(steps * std::sqrt(std::abs(static_cast<double>(number))));
  if (!with_signs || q == 0) return static_cast<uint16_t>(q);
  return static_cast<uint16_t>(2 * q + (number < 0 ? 1 : 0));
}

float largest_of(std::span<const float> row) {
  float most = 0;
  for (const float number : row) most = std::max(most, std::abs(number));
  return most;
}

size_t bytes_of(Coding coding) {
  return coding == Coding::f32 ? 4 : coding == Coding::root8 ? 1 : 2;
}

struct How {
  Coding coding;
  bool with_signs;
  int steps;  // K of root8
};

void put_number(std::string& planes, size_t place, size_t plane, float number, const How& how) {
  uint32_t bits = 0;
  if (how.coding == Coding::f32) bits = std::bit_cast<uint32_t>(number);
  if (how.coding == Coding::f16) bits = half_of(number);
  if (how.coding == Coding::root8 || how.coding == Coding::root16)
    bits = root_of(number, how.with_signs, how.steps);
  const size_t count = bytes_of(how.coding);
  for (size_t b = 0; b < count; ++b)
    planes[b * plane + place] = static_cast<char>(bits >> (8 * (count - 1 - b)) & 255);
}

std::string planes_of(MatrixView matrix, std::span<const float> scale, const How& how) {
  const size_t plane = static_cast<size_t>(matrix.rows()) * static_cast<size_t>(matrix.columns());
  std::string planes(plane * bytes_of(how.coding), '\0');
  size_t place = 0;
  for (int i = 0; i < matrix.rows(); ++i) {
    const float most = scale[static_cast<size_t>(i)];
    for (const float number : matrix.row(i)) {
      const float share = how.coding == Coding::f32 ? number : most > 0 ? number / most : 0.0f;
      put_number(planes, place++, plane, share, how);
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

// Whether some rows in the middle pack into so many bytes a number.
bool packs_well(const Matrix& matrix, std::span<const float> scale, const How& how, double most) {
  const int rows =
      std::clamp(static_cast<int>(sample_bytes) / std::max(1, matrix.columns()), 1, matrix.rows());
  const int first = (matrix.rows() - rows) / 2;
  const std::string bytes = planes_of(MatrixView(matrix).rows(first, rows),
                                      scale.subspan(static_cast<size_t>(first)), how);
  const size_t plane = bytes.size() / bytes_of(how.coding);
  const size_t size =
      std::min(gzip_of(bytes, 6).size(),
               gzip_of(differences(bytes, static_cast<size_t>(matrix.columns()), plane), 6).size());
  return static_cast<double>(size) <= most * static_cast<double>(plane);
}

How how_for(const Matrix& matrix, std::span<const float> scale, Coding coding, bool with_signs) {
  const bool large = matrix.size() >= large_from;
  if (coding == Coding::f32) return {coding, with_signs, 0};
  const How half{Coding::f16, with_signs, 0};
  if (coding == Coding::f16) {
    if (!large || packs_well(matrix, scale, half, most_bytes_in_half)) return half;
    return {Coding::root16, with_signs, 1023};
  }
  for (const int steps : {255, 127, 63}) {
    const How how{Coding::root8, with_signs, with_signs ? std::min(steps, 127) : steps};
    if (!large || packs_well(matrix, scale, how, most_bytes_in_root)) return how;
  }
  return {Coding::root8, with_signs, 31};
}

}  // namespace

Coding coding_for(size_t count) {
  if (count <= most_in_full) return Coding::f32;
  return count <= most_in_half ? Coding::f16 : Coding::root8;
}

bool has_negative(std::span<const Matrix> matrices) {
  return std::ranges::any_of(matrices, [](const Matrix& matrix) {
    return std::any_of(matrix.data(), matrix.data() + matrix.size(), [](float x) { return x < 0; });
  });
}

Document packed(const Matrix& matrix, Coding coding, bool with_signs) {
  Vector scale;
  for (int i = 0; i < matrix.rows(); ++i) scale.push_back(largest_of(matrix.row(i)));
  const How how = how_for(matrix, scale, coding, with_signs);
  std::string planes = planes_of(matrix, scale, how);
  const auto columns = static_cast<size_t>(matrix.columns());
  const bool difference =
      matrix.rows() > 1 && better_as_differences(planes, columns, matrix.size());
  if (difference) planes = differences(planes, columns, matrix.size());
  const std::string_view full(reinterpret_cast<const char*>(scale.data()),
                              scale.size() * sizeof(float));
  constexpr const char* names[] = {"f32", "f16", "root16", "root8"};
  Document out;
  out.fields = {
      {"rows", int64_t{matrix.rows()}},
      {"columns", int64_t{matrix.columns()}},
      {"coding", std::string(names[static_cast<int>(how.coding)])},
      {"steps", int64_t{how.steps}},
      {"difference", difference},
      {"scale", base64_of(gzip_of(full))},
      {"data", base64_of(gzip_of(planes, planes.size() < quick_from ? 9 : 6))},
  };
  return out;
}

}  // namespace headwater
