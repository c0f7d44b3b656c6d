#include "headwater/result/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headwater/core/fail.h"
#include "headwater/core/utf8.h"
#include "headwater/result/columns.h"
#include "headwater/result/merge.h"
#include "headwater/result/merge_tokens.h"
#include "headwater/result/token_class.h"
#include "headwater/result/token_text.h"

namespace headwater {
namespace {

using Groups = std::vector<std::vector<int>>;

constexpr std::string_view blanks = " \n\t\r";

bool begins_blank(const std::string& text) {
  return !text.empty() && blanks.find(text.front()) != blanks.npos;
}
bool ends_blank(const std::string& text) {
  return !text.empty() && blanks.find(text.back()) != blanks.npos;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Thai to Khmer, kana, bopomofo and ideographs.
bool has_no_spaces(char32_t c) {
  return (c >= 0x0E00 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF) ||
         (c >= 0x2E80 && c <= 0x2FDF) || (c >= 0x3040 && c <= 0x312F) ||
         (c >= 0x31F0 && c <= 0x31FF) || (c >= 0x3400 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF66 && c <= 0xFF9F) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

class Words {
 public:
  explicit Words(const Description& source)
      : tokens_(source.tokens),
        places_(source.places),
        texts_(source.texts),
        spelt_(spelt(source.tokens)) {
    // The text itself shows what an unknown token stands for.
    for (size_t j = 0; j < tokens_.size(); ++j)
      if (has_text(j)) spelt_[j].text = text_at(places_[j], places_[j].end);
  }

  std::vector<Range> all() {
    const int n = static_cast<int>(tokens_.size());
    for (int begin = 0, end = 0; begin < n; begin = end) {
      end = begin + 1;
      while (end < n && goes_on(static_cast<size_t>(end))) ++end;
      add_run(begin, end);
    }
    return std::move(words_);
  }

  // The text of a word. A word of white space is shown as such.
  std::string name(Range word) const {
    const auto first = static_cast<size_t>(word.begin), last = static_cast<size_t>(word.end) - 1;
    std::string text;
    if (has_text(first) && has_text(last))
      text = text_at(places_[first], places_[last].end);
    else
      for (size_t j = first; j <= last; ++j) text += spelt_[j].text;
    const std::string name = trimmed(text);
    if (!name.empty()) return to_utf8(code_points(name));
    return token_labels({text.empty() ? tokens_[first] : text})[0];
  }

 private:
  bool has_text(size_t j) const {
    if (places_.empty() || places_[j].text < 0) return false;
    const auto text = static_cast<size_t>(places_[j].text);
    return text < texts_.size() && places_[j].end <= texts_[text].size();
  }

  std::string text_at(const TokenPlace& first, size_t end) const {
    const std::string& text = texts_[static_cast<size_t>(first.text)];
    return end > first.begin ? text.substr(first.begin, end - first.begin) : "";
  }

  bool stands_alone(size_t j) const {
    const std::string& token = tokens_[j];
    if (!places_.empty()) return places_[j].text < 0 || places_[j].begin >= places_[j].end;
    // Also a name such as <image 0: 3,4>, but not a byte such as <0x0A>.
    if (is_special(token)) return true;
    return token.size() > 2 && token.front() == '<' && token.back() == '>' &&
           spelt_[j].text == token;
  }

  // Whether token j continues the run of the one before it.
  bool goes_on(size_t j) const {
    if (stands_alone(j) || stands_alone(j - 1)) return false;
    if (begins_blank(spelt_[j].text)) return false;
    if (ends_blank(spelt_[j - 1].text) && !is_space(j - 1)) return false;
    if (places_.empty()) return spelt_[j].goes_on;
    // Several tokens may share the bytes of one character.
    const TokenPlace &place = places_[j], &before = places_[j - 1];
    return place.text == before.text && place.begin >= before.begin && place.begin <= before.end;
  }

  // A token that is nothing but the space before a word.
  bool is_space(size_t j) const {
    return !spelt_[j].text.empty() && spelt_[j].text.find_first_not_of(' ') == std::string::npos;
  }

  bool punctuates(int j) const {
    return is_punctuation(trimmed(spelt_[static_cast<size_t>(j)].text));
  }

  bool without_space(int j) const {
    const std::u32string before = code_points(spelt_[static_cast<size_t>(j) - 1].text),
                         after = code_points(spelt_[static_cast<size_t>(j)].text);
    return !before.empty() && !after.empty() && has_no_spaces(before.back()) &&
           has_no_spaces(after.front());
  }

  void add_run(int start, int end) {
    const size_t first = words_.size();
    const bool space = is_space(static_cast<size_t>(start)) && start + 1 < end;
    int begin = space ? start + 1 : start, last = end;
    for (; begin < last && punctuates(begin); ++begin) words_.push_back({begin, begin + 1});
    while (last > begin && punctuates(last - 1)) --last;
    for (int j = begin; j < last; ++j)
      if (j == begin || without_space(j))
        words_.push_back({j, j + 1});
      else
        words_.back().end = j + 1;
    for (; last < end; ++last) words_.push_back({last, last + 1});
    if (space) words_[first].begin = start;
  }

  const std::vector<std::string>& tokens_;
  const std::vector<TokenPlace>& places_;
  const std::vector<std::string>& texts_;
  std::vector<SpeltToken> spelt_;
  std::vector<Range> words_;
};

void check_mergeable(const Attribution& result) {
  const std::string& name = result.source.name;
  if (result.method == "flow")
    fail_usage(
        "{}: the flows to the pieces of a word do not add up to the flow to the word, expected "
        "another method for words; ask for tokens",
        name);
  if (result.source.patches)
    fail_usage("{}: has patches of an image, expected tokens of a text for words; ask for tokens",
               name);
  if (result.relevance && result.relevance->layer)
    fail_usage("{}: holds edges between tokens, expected none for words; leave out `edges`", name);
  if (!result.outputs.empty())
    fail_usage("{}: holds generated tokens, expected one text for words; ask for tokens", name);
  need_all_columns(result, "words");
}

Groups groups_of(const std::vector<Range>& words) {
  Groups groups;
  for (const Range& word : words) {
    groups.emplace_back(static_cast<size_t>(word.size()));
    std::iota(groups.back().begin(), groups.back().end(), word.begin);
  }
  return groups;
}

bool has_all_rows(const Attribution& result) {
  if (result.rows.size() != result.source.tokens.size()) return false;
  for (size_t i = 0; i < result.rows.size(); ++i)
    if (result.rows[i] != static_cast<int>(i)) return false;
  return true;
}

// The rows of the result as rows of words, with the rows of the old values that make each.
Groups merge_rows(Attribution& result, const std::vector<Range>& words,
                  const std::vector<int>& word_of) {
  if (has_all_rows(result)) {
    result.rows.resize(words.size());
    std::iota(result.rows.begin(), result.rows.end(), 0);
    return groups_of(words);
  }
  Groups own;
  for (int r = 0; r < result.values.front().rows(); ++r) own.push_back({r});
  for (int& row : result.rows) {
    const int word = word_of[static_cast<size_t>(row)];
    if (words[static_cast<size_t>(word)].size() > 1)
      result.notes.push_back(
          fmt::format("the row of word {} is that of its piece, token {} '{}'", word, row,
                      token_labels(result.source.tokens)[static_cast<size_t>(row)]));
    row = word;
  }
  if (result.mean_row) result.notes.push_back("the mean is over tokens, not over words");
  return own;
}

void merge_input(InputGradient& input, const Groups& groups) {
  InputGradient out;
  for (const std::vector<int>& group : groups) {
    double squares = 0, sum = 0;
    for (const int j : group) {
      const auto at = static_cast<size_t>(j);
      squares += static_cast<double>(input.norm[at]) * static_cast<double>(input.norm[at]);
      sum += static_cast<double>(input.times_input[at]);
    }
    out.norm.push_back(static_cast<float>(std::sqrt(squares)));
    out.times_input.push_back(static_cast<float>(sum));
  }
  input = std::move(out);
}

// The rows of the logits that a result records, as words.
void move_rows(Attribution& result, const std::vector<int>& word_of) {
  const auto move = [&](Logit& logit) {
    if (logit.row >= 0) logit.row = word_of[static_cast<size_t>(logit.row)];
  };
  const auto move_target = [&](Target& target) {
    move(target.logit);
    if (target.against) move(*target.against);
  };
  if (result.gradient) move_target(result.gradient->target);
  if (result.relevance) move_target(result.relevance->target);
  if (!result.prediction) return;
  move(result.prediction->best);
  if (result.prediction->second) move(*result.prediction->second);
}

}  // namespace

std::vector<Range> words_of(const Description& source) { return Words(source).all(); }

std::vector<std::string> word_names(const Description& source, const std::vector<Range>& words) {
  const Words finder(source);
  std::vector<std::string> names;
  for (const Range& word : words) names.push_back(finder.name(word));
  return names;
}

void merge_tokens(Description& source, const std::vector<Range>& words) {
  source.tokens = word_names(source, words);
  if (source.places.empty()) return;
  std::vector<TokenPlace> places;
  for (const Range& word : words) {
    places.push_back(source.places[static_cast<size_t>(word.begin)]);
    places.back().end = source.places[static_cast<size_t>(word.end) - 1].end;
  }
  source.places = std::move(places);
}

Attribution merge_words(Attribution result) {
  check_mergeable(result);
  const size_t tokens = result.source.tokens.size();
  const std::vector<Range> words = words_of(result.source);
  std::vector<int> word_of(tokens);
  for (size_t k = 0; k < words.size(); ++k)
    for (int j = words[k].begin; j < words[k].end; ++j)
      word_of[static_cast<size_t>(j)] = static_cast<int>(k);
  const Groups columns = groups_of(words), rows = merge_rows(result, words, word_of);
  for (Matrix& values : result.values) values = merge(values, rows, columns);
  if (result.gradient && !result.gradient->input.norm.empty())
    merge_input(result.gradient->input, columns);
  move_rows(result, word_of);
  merge_tokens(result.source, words);
  result.source.ids.clear();
  result.notes.push_back(fmt::format("{} tokens merged to {} words", tokens, words.size()));
  result.pieces = words;
  result.maps.clear();  // they have a row for each token
  return result;
}

}  // namespace headwater
