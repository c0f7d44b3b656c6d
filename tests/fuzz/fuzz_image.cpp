// Bytes as an image, PNG or JPEG.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "headwater/core/error.h"
#include "headwater/core/threads.h"
#include "headwater/model/image/read.h"
#include "tests/fuzz/structure/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headwater::set_threads(1);
  try {
    const headwater::Image image =
        headwater::read_image(std::as_bytes(std::span(data, size)), "fuzz");
    if (image.bytes.size() !=
        size_t{3} * static_cast<size_t>(image.width) * static_cast<size_t>(image.height))
      std::abort();
  } catch (const headwater::Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, headwater::fuzz::changed_image);
}
