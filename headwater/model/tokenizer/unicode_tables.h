// What is known of characters, as the `tokenizers` package knows it: each table in the version of
// Unicode that the package asks there, from 9 (normal forms) to 17 (letter case). They hold
// whatever version the libraries of this machine know. Written by tools/tokenizer_tables.py.
#pragma once
#include <cstdint>
#include <span>

namespace headwater::unicode {

/// First and last code point. Ranges of a table are in order and apart.
struct Range {
  char32_t first, last;
};

/// Every `step`-th character from first to last has a lower case, `difference` away.
struct LowercaseRun {
  char32_t first, last;
  uint32_t step;
  int32_t difference;
};

/// A character of the same category and the same length in UTF-8, which older libraries know too.
struct StandIn {
  char32_t first, last, other;
};

extern const std::span<const Range> cleaned;  // BERT's clean_text takes them out
extern const std::span<const Range> punctuation;
extern const std::span<const Range> nonspacing_marks;
extern const std::span<const Range> combining_marks;
extern const std::span<const Range> numeric;
extern const std::span<const Range> word;    // \w
extern const std::span<const Range> extend;  // they belong to the grapheme before them
extern const std::span<const Range> prepend;
extern const std::span<const Range> conjunct_linkers;
extern const std::span<const Range> conjunct_consonants;
extern const std::span<const Range> in_normal_forms;  // all others neither decompose nor reorder
extern const std::span<const LowercaseRun> lowercase_runs;
extern const std::span<const StandIn> stand_ins;  // characters that came after Unicode 14

}  // namespace headwater::unicode
