// Bytes as a .npz file.
#include "headwater/source/npz.h"
#include "tests/fuzz/read_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headwater::read_bytes(data, size, headwater::read_npz);
  return 0;
}
