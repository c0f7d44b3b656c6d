// Bytes as a .json file.
#include "headwater/source/json.h"
#include "tests/fuzz/read_bytes.h"
#include "tests/fuzz/structure/json.h"

namespace {
constexpr std::string_view words =
    "attentions attention layers layer tokens mask attention_mask heads input_ids name "
    "special 0 1 0.5 [CLS] [SEP] [PAD] layer_0 layer.1";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headwater::read_bytes(data, size, headwater::read_json);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, headwater::fuzz::json_change(words));
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t most,
                                            unsigned seed) {
  return headwater::fuzz::cross_json(data, size, other, other_size, out, most, seed);
}
