#include "headwater/result/find_rows.h"

#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <utility>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/layer/resolve.h"
#include "headwater/result/token_text.h"
#include "headwater/result/words.h"
#include "headwater/source/mask.h"

namespace headwater {
namespace {

using Tokens = std::vector<std::string>;

// "keys#2" is the second "keys"; "#" alone and "C#" are words.
std::pair<std::string, int> word_and_number(const std::string& text) {
  const size_t mark = text.rfind('#');
  int number = 0;
  if (mark == std::string::npos || mark == 0) return {text, 1};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + mark + 1, end, number);
  if (stop != end || error != std::errc() || number < 1) return {text, 1};
  return {text.substr(0, mark), number};
}

// The tokens of each word or token with this spelling, in order.
std::vector<std::vector<int>> all_spelt(const std::string& word, const Tokens& tokens,
                                        const Tokens& words) {
  std::vector<std::vector<int>> found;
  const Tokens labels = token_labels(tokens);
  for (size_t t = 0; t < tokens.size(); ++t)
    if (words[t] == word || labels[t] == word || tokens[t] == word)
      found.push_back({static_cast<int>(t)});
  if (!found.empty()) return found;
  Description text;
  text.tokens = tokens;
  for (const Range pieces : words_of(text)) {
    std::string whole;
    for (int t = pieces.begin; t < pieces.end; ++t) whole += words[static_cast<size_t>(t)];
    if (whole != word) continue;
    found.emplace_back(static_cast<size_t>(pieces.end - pieces.begin));
    std::iota(found.back().begin(), found.back().end(), pieces.begin);
  }
  return found;
}

std::vector<int> find_word(const std::string& text, const Tokens& tokens, std::string_view source) {
  const auto [word, number] = word_and_number(text);
  const Tokens words = token_words(tokens);
  const std::vector<std::vector<int>> found = all_spelt(word, tokens, words);
  if (static_cast<size_t>(number) <= found.size()) return found[static_cast<size_t>(number) - 1];
  if (!found.empty())
    fail("{}: has '{}' {} time{}, expected at least {} for `row` {}; choose a smaller number",
         source, word, found.size(), found.size() == 1 ? "" : "s", number, text);
  std::vector<std::string_view> known(words.begin(), words.end());
  known.insert(known.end(), {"all", "cls", "last", "mask", "mean"});
  const std::string_view best = nearest(word, known);
  fail(
      "{}: has no token '{}', expected one of its {} tokens, a number, cls, last, mask, mean or "
      "all for `row`{}",
      source, word, words.size(),
      best.empty() ? "; info lists its tokens"
                   : fmt::format("; did you mean '{}'?", harmless(best)));
}

}  // namespace

std::vector<int> find_rows(const Row& row, const std::vector<std::string>& tokens,
                           std::string_view source) {
  const int n = static_cast<int>(tokens.size());
  std::vector<int> rows;
  switch (row.kind) {
    case Row::Kind::all:
      for (int i = 0; i < n; ++i) rows.push_back(i);
      break;
    case Row::Kind::index:
      rows.push_back(resolve_index(row.index, n, "row", source));
      break;
    case Row::Kind::last:
      rows.push_back(n - 1);
      break;
    case Row::Kind::cls:
      for (std::string_view name : {"[CLS]", "<s>", "<cls>", "[cls]"})
        for (int i = 0; i < n && rows.empty(); ++i)
          if (tokens[static_cast<size_t>(i)] == name) rows.push_back(i);
      if (rows.empty())
        fail(
            "{}: has no token [CLS], <s> or <cls>, expected one for `row` cls; give the row's "
            "number",
            source);
      break;
    case Row::Kind::mask:
      for (int i = 0; i < n; ++i)
        if (is_mask_token(tokens[static_cast<size_t>(i)])) rows.push_back(i);
      if (rows.empty())
        fail(
            "{}: has no token [MASK] or <mask>, expected one for `row` mask; give the row's number",
            source);
      break;
    case Row::Kind::mean:
      break;
    case Row::Kind::list:
      for (const Row& one : row.each)
        for (const int i : find_rows(one, tokens, source)) rows.push_back(i);
      break;
    case Row::Kind::word:
      rows = find_word(row.text, tokens, source);
      break;
  }
  return rows;
}

int find_one_row(const Row& row, const std::vector<std::string>& tokens, std::string_view source) {
  const std::vector<int> rows = find_rows(row, tokens, source);
  if (rows.size() != 1)
    fail("{}: `row` names its tokens {}, expected one output token; give the number of one", source,
         fmt::join(rows, ", "));
  return rows.front();
}

}  // namespace headwater
