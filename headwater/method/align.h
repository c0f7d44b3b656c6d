// Matches the tokens of two tokenizers on one text by their positions in it.
#pragma once
#include <string>
#include <vector>

#include "headwater/result/attribution.h"

namespace headwater {

/// Pieces of the text that both tokenizers share. Tokens that overlap, directly or through other
/// tokens, form one piece. Special tokens are paired in order: the k-th before the text with the
/// k-th before the text, and likewise between two texts and after them.
struct Alignment {
  std::vector<std::string> names;        // of the pieces, in order
  std::vector<std::vector<int>> first;   // the tokens of each piece, by the first tokenizer
  std::vector<std::vector<int>> second;  // and by the second
  std::vector<TokenPlace> places;        // of the pieces in `texts`; empty if they are not known
  std::vector<std::string> texts;
  int only_first = 0, only_second = 0;  // tokens with no counterpart: left out
};

/// Needs the same tokens on both sides, or places in the same text. Throws Error otherwise.
Alignment align(const Description& first, const Description& second);

}  // namespace headwater
