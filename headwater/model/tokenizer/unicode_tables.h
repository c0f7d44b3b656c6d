// Properties of characters as in the `tokenizers` package: each table in the Unicode version that
// the package uses there, from 9 (normal forms) to 17 (letter case). They do not depend on the
// libraries of this machine. Written by tools/tokenizer_tables.py.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

namespace headwater::unicode {

/// First and last code point. The ranges of a table are sorted and disjoint.
struct Range {
  char32_t first, last;
};

/// Every `step`-th character from first to last has a lower case `difference` away.
struct LowercaseRun {
  char32_t first, last;
  uint32_t step;
  int32_t difference;
};

/// A character of the same category and UTF-8 length that older libraries know too.
struct StandIn {
  char32_t first, last, other;
};

extern const std::span<const Range> cleaned;  // BERT's clean_text removes them
extern const std::span<const Range> punctuation;
extern const std::span<const Range> nonspacing_marks;
extern const std::span<const Range> combining_marks;
extern const std::span<const Range> numeric;
extern const std::span<const Range> word;    // \w
extern const std::span<const Range> extend;  // they belong to the preceding grapheme
extern const std::span<const Range> prepend;
extern const std::span<const Range> conjunct_linkers;
extern const std::span<const Range> conjunct_consonants;
extern const std::span<const Range> in_normal_forms;  // all others neither decompose nor reorder
extern const std::span<const LowercaseRun> lowercase_runs;
extern const std::span<const StandIn> stand_ins;  // characters newer than Unicode 14

/// Whether `table` has the character.
inline bool in(std::span<const Range> table, char32_t c) {
  const auto after =
      std::upper_bound(table.begin(), table.end(), c,
                       [](char32_t code, const Range& range) { return code < range.first; });
  return after != table.begin() && c <= std::prev(after)->last;
}

}  // namespace headwater::unicode
