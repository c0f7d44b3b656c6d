// Bytes as a .npz file.
#include "headwater/source/npz.h"
#include "tests/fuzz/read_bytes.h"
#include "tests/fuzz/structure/arrays.h"
#include "tests/fuzz/structure/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headwater::read_bytes(data, size, headwater::read_npz);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed,
                                 headwater::fuzz::zip_change(headwater::fuzz::changed_npy));
}
