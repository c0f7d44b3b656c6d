// An array of a file or of a caller: its name, type, shape, and the bytes of its numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headwater/core/dtype.h"
#include "headwater/core/inflate.h"

namespace headwater {

struct Tensor {
  std::string name;  // in its file; "" where there is just one
  DType type = DType::f32;
  std::vector<int64_t> shape;
  bool fortran = false;              // first axis fastest
  std::span<const std::byte> bytes;  // the numbers, where they lie open: mapped, or a caller's
  bool mapped = false;               // `bytes` are pages of a file that may be given back
  std::optional<Inflater> deflated;  // else
  uint64_t skip = 0;                 // bytes of a header before the numbers in `deflated`
  std::vector<std::byte> own;  // else: numbers that were read from text or had to be laid open
};

/// Numbers in an array of this shape. Throws Error naming `what` if a length is not in [1, 2^31) or
/// the array would not fit into 2^60 bytes.
uint64_t count_of(const std::vector<int64_t>& shape, DType type, const std::string& what);

/// "[12, 9, 9]".
std::string shape_text(const std::vector<int64_t>& shape);

/// All numbers of a small array, in C order.
std::vector<double> numbers_of(Tensor& tensor);

/// Lays deflated numbers open in memory. Grows with what is really there, not with what is claimed.
void lay_open(Tensor& tensor);

}  // namespace headwater
