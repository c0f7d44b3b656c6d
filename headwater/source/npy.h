// NumPy's .npy: one array after a text header. Versions 1 to 3, C and Fortran order.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "headwater/source/arrays.h"

namespace headwater {

/// A .npy header. `type` is none for text ("<U12"); then `characters` is its width.
struct NpyHeader {
  std::optional<DType> type;
  int64_t characters = 0;
  bool fortran = false;
  std::vector<int64_t> shape;
  uint64_t size = 0;  // bytes before the first number
};

/// Reads the header at the start of `bytes`; the first 64 KB of the file are enough. Throws Error
/// naming `what` for anything that is not a .npy header, for pickled objects and for types that are
/// not numbers.
NpyHeader read_npy_header(std::span<const std::byte> bytes, const std::string& what);

/// The array of a .npy file. Throws Error if the header and the size of the file disagree.
Arrays read_npy(const std::string& path);

}  // namespace headwater
