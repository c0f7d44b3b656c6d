#include "headwater/model/tokenizer/files/words.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <tuple>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/parse_json.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/json_part.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Without white space at its end.
std::string_view trimmed(std::string_view line) {
  while (!line.empty()) {
    const size_t last = character_before(line, line.size());
    if (!is_whitespace(character_at(line, last).code)) break;
    line = line.substr(0, last);
  }
  return line;
}

std::vector<std::string_view> lines_of(std::string_view text, const std::string& path) {
  check_utf8(text, path);
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Words read_word_list(const std::string& path) {
  const MappedFile file(path);
  Words words;
  int id = 0;
  for (const std::string_view line : lines_of(text_of(file), path))
    words[std::string(trimmed(line))] = id++;
  return words;
}

Words read_word_numbers(const std::string& path) {
  const MappedFile file(path);
  dom::parser parser;
  dom::object object;
  if (parse_json(parser, text_of(file), object))
    fail("{}: is not a JSON object, expected tokens and their ids; check the file", path);
  Words words;
  for (const auto& [token, id] : object) words[std::string(token)] = read_id(id, path);
  return words;
}

Merges read_merges(const std::string& path) {
  const MappedFile file(path);
  Merges merges;
  size_t number = 0;
  for (std::string_view line : lines_of(text_of(file), path)) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("#version") || line.empty()) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      fail("{}: line {} is '{}', expected two tokens with a space between them; check the file",
           path, number, line);
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

Merges merges_of(const Words& words) {
  struct Merge {
    int whole, left_length, right_length, left_id, right_id;
    std::string_view left, right;
  };
  std::vector<Merge> all;
  for (const auto& [word, id] : words) {
    const int length = static_cast<int>(std::ranges::count_if(
        word, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
    // Longer ones than any real piece would take quadratic time.
    constexpr size_t longest = 4096;
    if (word.size() > longest) continue;
    int left_length = 0;
    for (size_t at = 1; at < word.size(); ++at) {
      if ((static_cast<unsigned char>(word[at]) & 0xc0) == 0x80) continue;
      ++left_length;
      const auto left = words.find(word.substr(0, at)), right = words.find(word.substr(at));
      if (left == words.end() || right == words.end()) continue;
      all.push_back({id, left_length, length - left_length, left->second, right->second,
                     left->first, right->first});
    }
  }
  std::ranges::sort(all, {}, [](const Merge& merge) {
    return std::tuple(merge.whole, merge.left_length, merge.right_length, merge.left_id,
                      merge.right_id);
  });
  Merges merges;
  for (const Merge& merge : all) merges.emplace_back(merge.left, merge.right);
  return merges;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string vocabulary(const Words& words) {
  std::vector<std::pair<int, std::string_view>> by_id;
  for (const auto& [word, id] : words) by_id.emplace_back(id, word);
  std::ranges::sort(by_id);
  std::string out = "{";
  for (const auto& [id, word] : by_id)
    out += fmt::format("{}{}:{}", out.size() == 1 ? "" : ",", json_text(word), id);
  return out + '}';
}

std::string merge_list(const Merges& merges) {
  std::string out = "[";
  for (const auto& [left, right] : merges)
    out += fmt::format("{}[{},{}]", out.size() == 1 ? "" : ",", json_text(left), json_text(right));
  return out + ']';
}

}  // namespace headwater
