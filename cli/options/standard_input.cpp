#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/options/source.h"
#include "headwater/core/fail.h"
#include "headwater/core/utf8.h"

namespace headwater::cli {
namespace {

constexpr size_t most_bytes = size_t{1} << 31;

std::string standard_input(const char* option) {
  std::string all;
  char piece[1 << 16];
  for (size_t count; (count = std::fread(piece, 1, sizeof piece, stdin)) > 0;) {
    all.append(piece, count);
    if (all.size() > most_bytes)
      fail("standard input: has more than 2^31 bytes, expected a text for {}; give a shorter one",
           option);
  }
  if (std::ferror(stdin))
    fail(
        "standard input: could not be read ({}), expected a text for {}; check where it comes from",
        std::strerror(errno), option);
  if (all.empty())
    fail(
        "standard input: is empty, expected a text for {}; for example echo The keys | headwater "
        "... {} -",
        option, option);
  return all;
}

}  // namespace

std::string text_or_standard_input(const std::string& text, const char* option) {
  if (text != "-") return text;
  std::string all = standard_input(option);
  if (all.ends_with('\n')) all.pop_back();
  if (all.ends_with('\r')) all.pop_back();
  return all;
}

std::vector<std::string> texts_of(const std::string& path) {
  return path == "-" ? split_texts(standard_input("--text-file"), "standard input")
                     : read_texts(path);
}

}  // namespace headwater::cli
