// Bytes as a file of examples, by both of its endings.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "headwater/core/error.h"
#include "headwater/method/evaluate/examples.h"

namespace {

// Only the path knows a format, so the file in memory is reached through links that have endings.
std::string folder() {
  std::string place = (std::filesystem::temp_directory_path() / "headwater-fuzz-XXXXXX").string();
  if (mkdtemp(place.data()) == nullptr) std::abort();
  return place;
}

void check(const headwater::LabelledInput& input) {
  if (input.text.empty()) std::abort();
  for (const auto& [begin, end] : input.truth)
    if (begin >= end || end > input.text.size()) std::abort();
  if (input.box && !(input.box->width > 0 && input.box->height > 0)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string place = folder();
  static const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, 0) != 0 ||
      pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  for (const char* name : {"/examples.txt", "/examples.jsonl"}) {
    const std::string path = place + name;
    std::error_code exists;
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file), path, exists);
    try {
      for (const auto& input : headwater::read_examples(path)) check(input);
    } catch (const headwater::Error& error) {
      const std::string what = error.what();
      if (what.find('\n') != std::string::npos || !what.starts_with(place)) std::abort();
    }
  }
  return 0;
}
