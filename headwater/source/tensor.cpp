#include "headwater/source/tensor.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "headwater/core/fail.h"

namespace headwater {

uint64_t count_of(const std::vector<int64_t>& shape, DType type, const std::string& what) {
  uint64_t count = 1;
  for (int64_t length : shape) {
    constexpr int64_t most_of_an_axis = (int64_t{1} << 31) - 1;
    if (length < 1 || length > most_of_an_axis)
      fail("{}: has an axis of length {} in its shape {}, expected {}; save it again", what, length,
           shape_text(shape),
           length < 1 ? "1 or more" : fmt::format("at most {}", most_of_an_axis));
    const uint64_t most = (uint64_t{1} << 60) / size_of(type);
    if (static_cast<uint64_t>(length) > most / count)
      fail("{}: claims {} numbers of {}, expected an array that fits into a file; save it again",
           what, shape_text(shape), name_of(type));
    count *= static_cast<uint64_t>(length);
  }
  return count;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void decompress(Tensor& tensor) {
  if (!tensor.deflated) return;
  const uint64_t size = tensor.deflated->size() - tensor.skip;
  constexpr uint64_t piece = 1 << 20;
  for (uint64_t done = 0; done < size;) {
    const uint64_t count = std::min(piece, size - done);
    tensor.own.resize(done + count);
    tensor.deflated->read(tensor.skip + done, std::span(tensor.own).subspan(done));
    done += count;
  }
  tensor.deflated.reset();
  tensor.bytes = tensor.own;
}

std::vector<double> numbers_of(Tensor& tensor) {
  decompress(tensor);
  const size_t width = size_of(tensor.type);
  std::vector<double> numbers(tensor.bytes.size() / width);
  for (size_t k = 0; k < numbers.size(); ++k)
    numbers[k] = number_at(tensor.type, tensor.bytes.data() + k * width);
  if (tensor.fortran && tensor.shape.size() == 2) {
    const size_t rows = static_cast<size_t>(tensor.shape[0]), columns = numbers.size() / rows;
    std::vector<double> transposed(numbers.size());
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) transposed[i * columns + j] = numbers[j * rows + i];
    return transposed;
  }
  return numbers;
}

}  // namespace headwater
