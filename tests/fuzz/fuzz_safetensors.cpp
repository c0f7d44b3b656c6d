// Bytes as a .safetensors file.
#include "headwater/source/safetensors.h"
#include "tests/fuzz/read_bytes.h"
#include "tests/fuzz/structure/arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headwater::read_bytes(data, size, headwater::read_safetensors);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, headwater::fuzz::changed_safetensors);
}
