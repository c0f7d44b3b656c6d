#include <algorithm>
#include <charconv>
#include <iterator>

#include "cli/options/preparing.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/result/token_text.h"

namespace headwater::cli {
namespace {

constexpr std::string_view row_names[] = {"all", "cls", "last", "mask", "mean"};

// Numbers and the words that stand for a row, also several with commas between them, are no words
// of a text. "last#1" is one.
bool is_word_of_text(std::string_view text) {
  if (text.find('#') != text.npos) return true;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const bool number = !one.empty() && one.find_first_not_of("0123456789-+") == one.npos;
    if (!number && std::ranges::find(row_names, one) == std::end(row_names)) return !text.empty();
    begin = end + 1;
  }
  return false;
}

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

}  // namespace

Row find_row(const std::string& text, const Description& example) {
  const auto [word, number] = word_and_number(text);
  const std::vector<std::string> words = token_words(example.tokens),
                                 labels = token_labels(example.tokens);
  int seen = 0;
  for (size_t t = 0; t < words.size(); ++t)
    if ((words[t] == word || labels[t] == word || example.tokens[t] == word) && ++seen == number)
      return Row::at(static_cast<int>(t));
  if (seen > 0)
    fail("{}: has '{}' {} time{}, expected at least {} for --row {}; choose a smaller number",
         example.name, word, seen, seen == 1 ? "" : "s", number, text);
  std::vector<std::string_view> known(words.begin(), words.end());
  known.insert(known.end(), std::begin(row_names), std::end(row_names));
  const std::string_view best = nearest(word, known);
  fail(
      "{}: has no token '{}', expected one of its {} tokens, a number, cls, last, mask, mean or "
      "all for --row; {}",
      example.name, word, words.size(),
      best.empty() ? "'headwater info' lists the tokens"
                   : fmt::format("did you mean '{}'?", harmless(best)));
}

void declare_row(OptionList& options, const char* about, std::optional<Row>& row,
                 std::optional<std::string>& word) {
  options
      .add("--row", "ROW", about,
           [&row, &word](const std::string& text) {
             if (is_word_of_text(text))
               word = text;
             else
               row = parse_row(text);
           })
      .words = {"all", "cls", "last", "mask", "mean"};
}

}  // namespace headwater::cli
