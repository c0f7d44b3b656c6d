#include "headwater/result/generated_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "headwater/core/fail.h"
#include "headwater/result/merge.h"
#include "headwater/result/merge_tokens.h"
#include "headwater/result/words.h"

namespace headwater {
namespace {

using TokenGroups = std::vector<std::vector<int>>;

TokenGroups token_groups(const std::vector<Range>& words, int offset = 0) {
  TokenGroups groups;
  for (const Range& word : words) {
    groups.emplace_back(static_cast<size_t>(word.size()));
    std::iota(groups.back().begin(), groups.back().end(), word.begin + offset);
  }
  return groups;
}

// Prompt and generated tokens in one list, without places: the marks of all tokens say how the
// vocabulary marks words.
Description whole_text(const Generated& result) {
  Description whole;
  whole.tokens = result.prompt.tokens;
  whole.tokens.insert(whole.tokens.end(), result.tokens.begin(), result.tokens.end());
  return whole;
}

// The words of the whole text from token m on, as tokens of the whole text.
std::vector<Range> words_from(const Description& whole, int m) {
  std::vector<Range> words;
  for (const Range& word : words_of(whole))
    if (word.end > m) words.push_back({std::max(word.begin, m), word.end});
  return words;
}

// M of each word: [prompt words, layers].
std::vector<Matrix> merge_values(const std::vector<Matrix>& values, const TokenGroups& rows,
                                 const TokenGroups& columns) {
  std::vector<Matrix> out;
  for (const std::vector<int>& word : rows) {
    const int layers = values.front().columns();
    Matrix& merged = out.emplace_back(static_cast<int>(columns.size()), layers);
    for (int c = 0; c < merged.rows(); ++c)
      for (int l = 0; l < layers; ++l) {
        double sum = 0;
        for (const int s : word)
          for (const int j : columns[static_cast<size_t>(c)])
            sum += static_cast<double>(values[static_cast<size_t>(s)](j, l));
        merged(c, l) = static_cast<float>(sum / static_cast<double>(word.size()));
      }
  }
  return out;
}

std::vector<double> means(const std::vector<double>& values, const TokenGroups& groups) {
  std::vector<double> out;
  for (const std::vector<int>& group : groups) {
    double sum = 0;
    for (const int s : group) sum += values[static_cast<size_t>(s)];
    out.push_back(sum / static_cast<double>(group.size()));
  }
  return out;
}

// The span of generated tokens as one of generated words.
Range span_of_words(Range span, const std::vector<Range>& words, const std::string& name) {
  const auto begin = std::ranges::find(words, span.begin, &Range::begin);
  const auto end = std::ranges::find(words, span.end, &Range::end);
  if (begin == words.end() || end == words.end())
    fail_usage(
        "{}: `span` {}:{} cuts a word, expected whole words; choose another, or ask for tokens",
        name, span.begin, span.end);
  return {static_cast<int>(begin - words.begin()), static_cast<int>(end - words.begin()) + 1};
}

void merge_relevance(Generated& result, const TokenGroups& rows, TokenGroups columns) {
  const int m = static_cast<int>(result.prompt.tokens.size());
  for (const std::vector<int>& word : token_groups(result.generated_pieces, m))
    columns.push_back(word);
  if (result.span.size() > 0) {
    const Range span = span_of_words(result.span, result.generated_pieces, result.prompt.name);
    result.relevance = merge(result.relevance, {{0}}, columns);
    result.span = span;
    return;
  }
  result.relevance = merge(result.relevance, rows, columns);
  result.outputs = means(result.outputs, rows);
  result.biases = means(result.biases, rows);
}

}  // namespace

Generated merge_words(Generated result) {
  if (result.target)
    fail_usage(
        "{}: words are put together for texts that continue their prompt, expected no source and "
        "target; leave it out",
        result.prompt.name);
  const int m = static_cast<int>(result.prompt.tokens.size());
  const size_t count = result.tokens.size();
  const Description whole = whole_text(result);
  const std::vector<Range> after = words_from(whole, m);
  const std::vector<std::string> names = word_names(whole, after);
  result.pieces = words_of(result.prompt);
  for (const Range& word : after) result.generated_pieces.push_back({word.begin - m, word.end - m});
  const TokenGroups columns = token_groups(result.pieces),
                    rows = token_groups(result.generated_pieces);
  if (!result.values.empty()) result.values = merge_values(result.values, rows, columns);
  if (result.relevance.rows() > 0) merge_relevance(result, rows, columns);
  if (result.shown)
    result.shown = static_cast<int>(
        std::ranges::find_if(result.generated_pieces,
                             [&](const Range& word) { return *result.shown < word.end; }) -
        result.generated_pieces.begin());
  merge_tokens(result.prompt, result.pieces);
  result.tokens = names;
  result.notes.push_back(
      fmt::format("{} prompt tokens merged to {} words, {} generated tokens to {}", m,
                  result.pieces.size(), count, names.size()));
  if (!result.choices.empty())
    result.notes.push_back("how sure the model was of single tokens is left out");
  result.choices.clear();
  return result;
}

}  // namespace headwater
