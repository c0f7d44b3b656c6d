// .npy files made by hand, so that a bad one differs from a good one in one thing.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/bytes.h"

namespace headwater::test {

struct Npy {
  int version = 1;
  bool fortran = false;    // `values` are in C order all the same
  std::string descr = {};  // in place of that of the type, if not empty; with its quotes
};

/// The header alone, for numbers of any size.
Bytes npy_header(const std::string& descr, const std::vector<int64_t>& shape, const Npy& how = {});

/// A whole array; values in C order.
Bytes npy(DType type, const std::vector<int64_t>& shape, const std::vector<double>& values,
          const Npy& how = {});

/// A unicode array of words in ASCII or UTF-8.
Bytes npy_words(const std::vector<int64_t>& shape, const std::vector<std::string>& words);

/// The same values with the first axis fastest.
std::vector<double> to_fortran(const std::vector<int64_t>& shape,
                               const std::vector<double>& values);

}  // namespace headwater::test
