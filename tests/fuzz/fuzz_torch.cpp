// torch.save: any bytes are tensors inside the file or its copies, or one sentence.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "headwater/core/error.h"
#include "headwater/source/torch_file.h"
#include "tests/fuzz/structure/arrays.h"
#include "tests/fuzz/structure/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    volatile unsigned sum = 0;  // so that every byte is read
    const headwater::Arrays arrays = headwater::read_torch("/proc/self/fd/" + std::to_string(file));
    for (const headwater::Tensor& tensor : arrays.layers)
      for (const std::byte byte : tensor.bytes) sum = sum + static_cast<unsigned>(byte);
  } catch (const headwater::Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  close(file);
  return 0;
}

// Files from before version 1.6 are several pickles and the numbers behind them, in no zip.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  using namespace headwater::fuzz;
  const bool zipped = size > 1 && data[0] == 'P' && data[1] == 'K';
  return mutate(data, size, most, seed, zipped ? zip_change(changed_pickle) : changed_pickle);
}
