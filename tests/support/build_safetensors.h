// safetensors files made by hand.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/bytes.h"

namespace headwater::test {

struct SafeTensor {
  std::string name;
  DType type = DType::f32;
  std::vector<int64_t> shape;
  std::vector<double> values;
};

/// A good file. `metadata` is JSON for __metadata__, "" for none.
Bytes safetensors(const std::vector<SafeTensor>& tensors, const std::string& metadata = "");

/// Any header before any bytes.
Bytes safetensors_of(const std::string& header, const Bytes& data);

/// One entry of a header: "name": {"dtype": ..., "shape": ..., "data_offsets": [begin, end]}.
std::string safetensors_entry(const std::string& name, const std::string& dtype,
                              const std::vector<int64_t>& shape, uint64_t begin, uint64_t end);

}  // namespace headwater::test
