#include "headwater/method/compare_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "headwater/core/fail.h"
#include "headwater/method/compare.h"
#include "headwater/result/token_text.h"
#include "headwater/result/words.h"

namespace headwater {
namespace {

constexpr int longest_label = 40;

// "##ing" and "##ed" are "##ing/ed": the mark says where words begin, and counts once.
std::string_view without_mark(std::string_view token, std::string_view first) {
  for (const std::string_view mark : {"##", "\u2581", "\u0120"})
    if (first.starts_with(mark) && token.starts_with(mark)) return token.substr(mark.size());
  return token;
}

// The tokens of all inputs, by position; how many differ is added to `differ`.
std::vector<std::string> names_of(const std::vector<Attribution>& results, int& differ) {
  std::vector<std::string> names = results[0].source.tokens;
  for (size_t j = 0; j < names.size(); ++j) {
    std::vector<std::string> seen = {names[j]};
    for (const Attribution& result : results) {
      const std::string& token = result.source.tokens[j];
      if (std::ranges::find(seen, token) != seen.end()) continue;
      names[j] += fmt::format("/{}", without_mark(token, seen[0]));
      seen.push_back(token);
    }
    differ += seen.size() > 1 ? 1 : 0;
  }
  return names;
}

std::string label_of(const Description& source) {
  if (source.texts.empty()) return fmt::format("item {}", source.item);
  return fmt::format("{}: {}", source.item, shortened(harmless(source.texts[0]), longest_label));
}

// Whether `size` is the same for all.
template <class Size>
bool all_have_one(const std::vector<Attribution>& results, Size size) {
  return std::ranges::adjacent_find(results, std::ranges::not_equal_to{},
                                    [&](const Attribution& one) { return size(one.source); }) ==
         results.end();
}

// "cabinet" may be one token and "cabinets" two, but each is one word.
void merge_words_if_needed(std::vector<Attribution>& results) {
  const bool are_texts = std::ranges::none_of(
      results, [](const Attribution& one) { return one.source.patches.has_value(); });
  if (!are_texts || all_have_one(results, [](const Description& one) { return one.tokens.size(); }))
    return;
  if (!all_have_one(results, [](const Description& one) { return words_of(one).size(); })) return;
  for (Attribution& result : results) result = merge_words(std::move(result));
}

void check(const std::vector<Attribution>& results) {
  const Attribution& first = results[0];
  const size_t tokens = first.source.tokens.size();
  for (const Attribution& other : results) {
    const Description& source = other.source;
    if (source.tokens.size() != tokens)
      fail(
          "{}: item {} has {} tokens and item {} has {}, expected as many tokens or words in each, "
          "to compare them position by position; the page of a rollout of all items shows such "
          "inputs beside each other",
          source.name, source.item, source.tokens.size(), first.source.item, tokens);
    if (other.rows != first.rows)
      fail(
          "{}: `row` is another token in item {} than in item {}, expected the same; give a number",
          source.name, source.item, first.source.item);
  }
}

}  // namespace

Comparison compare_input(std::vector<Attribution> results) {
  if (results.size() < 2)
    fail("compare: has {} input, expected two or more to compare; give several", results.size());
  merge_words_if_needed(results);
  check(results);
  int differ = 0;
  const std::vector<std::string> names = names_of(results, differ);
  for (Attribution& result : results) {
    result.label = label_of(result.source);
    if (differ > 0)
      result.notes.push_back(
          fmt::format("{} of {} tokens differ between the inputs; they are shown as one/other",
                      differ, names.size()));
    result.source.tokens = names;
    result.source.ids.clear();
    result.source.places.clear();
    result.source.texts.clear();
  }
  Comparison comparison{"input", std::move(results), {}};
  comparison.agreement = agreement(comparison.panels);
  return comparison;
}

}  // namespace headwater
