#include <algorithm>
#include <string>

#include "tests/fuzz/structure/arrays.h"
#include "tests/fuzz/structure/bytes.h"
#include "tests/fuzz/structure/json.h"

namespace headwater::fuzz {
namespace {

constexpr std::string_view words =
    "dtype shape data_offsets __metadata__ format pt F32 F16 BF16 F64 I64 I32 I16 I8 U8 BOOL "
    "F8_E4M3 layer.0 layer.1 "
    "attentions layer_10 tokens mask input_ids attention_mask";

// A tensor of equal weights, as attention has them, for a file that has none yet.
std::string any_tensor(size_t begin, Chance& chance, size_t& bytes) {
  const size_t heads = 1 + chance.below(3), n = 1 + chance.below(5);
  bytes = heads * n * n * 4;
  return "\"layer." + std::to_string(chance.below(4)) + "\": {\"dtype\": \"F32\", \"shape\": [" +
         std::to_string(heads) + ", " + std::to_string(n) + ", " + std::to_string(n) +
         "], \"data_offsets\": [" + std::to_string(begin) + ", " + std::to_string(begin + bytes) +
         "]}";
}

}  // namespace

std::string changed_safetensors(std::string_view file, Chance& chance) {
  const uint64_t length = number_at(file, 0, 8);
  if (file.size() < 8 || length > file.size() - 8) return std::string(file);
  std::string header(file.substr(8, length)), data(file.substr(8 + length));
  header.erase(header.find_last_not_of(' ') + 1);
  switch (chance.below(6)) {
    case 0:
      data = changed_bytes(data, chance);
      break;
    case 1:
      if (header.ends_with('}') && header.size() > 2) {
        size_t bytes = 0;
        header.pop_back();
        header += ", " + any_tensor(data.size(), chance, bytes) + "}";
        for (const float value = 0.25f; bytes > 0; bytes -= 4)
          data.append(reinterpret_cast<const char*>(&value), 4);
      }
      break;
    default:
      header = changed_json(header, chance, words);
  }
  header.append((8 - header.size() % 8) % 8, ' ');
  return number(header.size(), 8) + header + data;
}

}  // namespace headwater::fuzz
