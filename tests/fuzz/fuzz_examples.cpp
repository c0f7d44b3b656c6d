// Bytes as a file of examples, by both of its endings.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "headwater/core/error.h"
#include "headwater/method/evaluate/examples.h"
#include "tests/fuzz/structure/json.h"

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

constexpr std::string_view words =
    "text prompt answer image label truth box a.png the [[0,1]] [0,0,4,4] 1 0 -1 \\u00e9 \\r";

// One line of several, as JSON; or lines in another order, doubled or gone.
std::string changed_lines(std::string_view file, headwater::fuzz::Chance& chance) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < file.size();) {
    const size_t end = std::min(file.find('\n', at), file.size());
    lines.emplace_back(file.substr(at, end - at));
    at = end + 1;
  }
  headwater::fuzz::change_list(lines, chance, [&](std::string& line) {
    line = headwater::fuzz::changed_json(line, chance, words);
  });
  std::string out = chance.one_in(20) ? "\xEF\xBB\xBF" : "";
  for (const std::string& line : lines) out += line + (chance.one_in(20) ? "\r\n" : "\n");
  return out;
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

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, changed_lines);
}
