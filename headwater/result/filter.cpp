#include "headwater/result/filter.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/nearest.h"
#include "headwater/result/token_class.h"
#include "headwater/result/token_text.h"

namespace headwater {
namespace {

void add_words(std::set<std::string>& words, const std::string& path) {
  const MappedFile file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) words.emplace(line);
    begin = end + 1;
  }
}

void add(Filter& filter, std::string_view word) {
  static constexpr std::string_view known[] = {"special", "punctuation", "common", "@FILE"};
  if (word == "special")
    filter.special = true;
  else if (word == "punctuation")
    filter.punctuation = true;
  else if (word == "common")
    filter.common = true;
  else if (word.size() > 1 && word.front() == '@')
    add_words(filter.words, std::string(word.substr(1)));
  else
    fail_usage("unknown filter '{}'{}", harmless(word), suggestion(word, known));
}

}  // namespace

Filter parse_filter(std::string_view text) {
  Filter filter;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    add(filter, text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return filter;
}

std::vector<bool> kept(const Filter& filter, const std::vector<std::string>& tokens) {
  std::vector<bool> out(tokens.size(), true);
  if (!filter.any()) return out;
  const std::vector<std::string> words = token_words(tokens), labels = token_labels(tokens);
  const auto listed = [&](const std::string& spelt) { return filter.words.contains(spelt); };
  for (size_t j = 0; j < tokens.size(); ++j)
    out[j] = !((filter.special && is_special(tokens[j])) ||
               (filter.punctuation && is_punctuation(words[j])) ||
               (filter.common && is_common(labels[j])) || listed(tokens[j]) || listed(labels[j]) ||
               (!tokens[j].starts_with("##") && listed(words[j])));
  return out;
}

}  // namespace headwater
