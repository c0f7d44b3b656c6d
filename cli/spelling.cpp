#include "cli/spelling.h"

#include <string_view>

namespace headwater::cli {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";

// The option that begins with the backtick at `at`, or "" if none does.
std::string_view option_at(std::string_view sentence, size_t at) {
  if (sentence[at] != '`') return "";
  const std::string_view rest = sentence.substr(at + 1);
  const size_t end = rest.find_first_not_of(letters);
  return end == std::string_view::npos || rest[end] != '`' ? "" : rest.substr(0, end);
}

}  // namespace

std::string spelled_for_terminal(const std::string& sentence) {
  std::string out;
  for (size_t at = 0; at < sentence.size();) {
    const std::string_view option = option_at(sentence, at);
    if (option.empty()) {
      const char c = sentence[at++];
      out += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
      continue;
    }
    out += "--";
    for (const char c : option) out += c == '_' ? '-' : c;
    at += option.size() + 2;
  }
  return out;
}

}  // namespace headwater::cli
