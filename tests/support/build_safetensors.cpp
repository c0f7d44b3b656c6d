#include "tests/support/build_safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace headwater::test {

std::string safetensors_entry(const std::string& name, const std::string& dtype,
                              const std::vector<int64_t>& shape, uint64_t begin, uint64_t end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, dtype,
                     fmt::join(shape, ","), begin, end);
}

Bytes safetensors_of(const std::string& header, const Bytes& data) {
  Bytes bytes;
  append(bytes, static_cast<uint64_t>(header.size()));
  return bytes + header + data;
}

Bytes safetensors(const std::vector<SafeTensor>& tensors, const std::string& metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty()) entries.push_back("\"__metadata__\":" + metadata);
  Bytes data;
  for (const SafeTensor& tensor : tensors) {
    const uint64_t begin = data.size();
    data += encode(tensor.type, tensor.values);
    std::string type(name_of(tensor.type));
    std::transform(type.begin(), type.end(), type.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    entries.push_back(safetensors_entry(tensor.name, type, tensor.shape, begin, data.size()));
  }
  return safetensors_of(fmt::format("{{{}}}", fmt::join(entries, ",")), data);
}

}  // namespace headwater::test
