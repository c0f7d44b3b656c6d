// An array from a file or a caller: its name, type, shape, and the bytes of its numbers.
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
  std::string name;  // in its file; "" if it is the only one
  DType type = DType::f32;
  std::vector<int64_t> shape;
  bool fortran = false;              // first axis fastest
  std::span<const std::byte> bytes;  // the numbers, unless `deflated`
  bool mapped = false;               // `bytes` are pages of a file that may be released
  std::optional<Inflater> deflated;  // the numbers in compressed form
  uint64_t skip = 0;                 // bytes of a header before the numbers in `deflated`
  std::vector<std::byte> own;        // holds `bytes` that were parsed from text or decompressed
};

/// The number of entries of this shape. Throws Error naming `what` if a length is not in [1, 2^31)
/// or the array would not fit into 2^60 bytes.
uint64_t count_of(const std::vector<int64_t>& shape, DType type, const std::string& what);

/// "[12, 9, 9]".
std::string shape_text(const std::vector<int64_t>& shape);

/// All numbers of a small array, in C order. Decompresses it first.
std::vector<double> numbers_of(Tensor& tensor);

/// Decompresses the array into memory, which grows with the actual data, not the claimed size.
void decompress(Tensor& tensor);

}  // namespace headwater
