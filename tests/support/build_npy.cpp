#include "tests/support/build_npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace headwater::test {
namespace {

std::string descr_of(DType type) {
  switch (type) {
    case DType::f16:
      return "'<f2'";
    case DType::bf16:
      return "'<V2'";
    case DType::f32:
      return "'<f4'";
    case DType::f64:
      return "'<f8'";
    case DType::i8:
      return "'|i1'";
    case DType::i16:
      return "'<i2'";
    case DType::i32:
      return "'<i4'";
    case DType::i64:
      return "'<i8'";
    case DType::u8:
      return "'|u1'";
    case DType::u16:
      return "'<u2'";
    case DType::u32:
      return "'<u4'";
    case DType::u64:
      return "'<u8'";
    case DType::boolean:
      return "'|b1'";
  }
  throw std::logic_error("no such type");
}

std::vector<char32_t> code_points(const std::string& utf8) {
  std::vector<char32_t> points;
  for (size_t k = 0; k < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[k++]);
    const int more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    char32_t point = more == 0 ? lead : lead & (0x3fu >> more);
    for (int m = 0; m < more; ++m) point = point << 6 | (static_cast<unsigned>(utf8[k++]) & 63);
    points.push_back(point);
  }
  return points;
}

}  // namespace

Bytes npy_header(const std::string& descr, const std::vector<int64_t>& shape, const Npy& how) {
  std::string lengths;
  for (int64_t length : shape) lengths += fmt::format("{},", length);
  std::string text = fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': ({}), }}", descr,
                                 how.fortran ? "True" : "False", lengths);
  const size_t before = how.version == 1 ? 10 : 12;
  while ((before + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  Bytes bytes = "\x93NUMPY";
  bytes += static_cast<char>(how.version);
  bytes += '\0';
  if (how.version == 1)
    append(bytes, static_cast<uint16_t>(text.size()));
  else
    append(bytes, static_cast<uint32_t>(text.size()));
  return bytes + text;
}

std::vector<double> to_fortran(const std::vector<int64_t>& shape,
                               const std::vector<double>& values) {
  std::vector<double> transposed;
  std::vector<int64_t> at(shape.size(), 0);
  for (size_t k = 0; k < values.size(); ++k) {
    int64_t place = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) place = place * shape[axis] + at[axis];
    transposed.push_back(values[static_cast<size_t>(place)]);
    for (size_t axis = 0; axis < shape.size() && ++at[axis] == shape[axis]; ++axis) at[axis] = 0;
  }
  return transposed;
}

Bytes npy(DType type, const std::vector<int64_t>& shape, const std::vector<double>& values,
          const Npy& how) {
  return npy_header(how.descr.empty() ? descr_of(type) : how.descr, shape, how) +
         encode(type, how.fortran ? to_fortran(shape, values) : values);
}

Bytes npy_words(const std::vector<int64_t>& shape, const std::vector<std::string>& words) {
  size_t width = 1;
  for (const std::string& word : words) width = std::max(width, code_points(word).size());
  Bytes numbers;
  for (const std::string& word : words) {
    std::vector<char32_t> points = code_points(word);
    points.resize(width);
    for (char32_t point : points) append(numbers, static_cast<uint32_t>(point));
  }
  return npy_header(fmt::format("'<U{}'", width), shape) + numbers;
}

}  // namespace headwater::test
