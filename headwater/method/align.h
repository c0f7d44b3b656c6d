// Tokens of one text by two tokenizers, brought together by where they stand in it.
#pragma once
#include <string>
#include <vector>

#include "headwater/result/attribution.h"

namespace headwater {

/// Pieces of the text that both cut out: tokens of the one and of the other that overlap, directly
/// or through a third, are one piece. Special tokens are paired one by one: the k-th before the
/// text with the k-th before it, likewise between two texts and after.
struct Alignment {
  std::vector<std::string> names;        // of the pieces, in order
  std::vector<std::vector<int>> first;   // the tokens of each piece in the one
  std::vector<std::vector<int>> second;  // and in the other
  int only_first = 0, only_second = 0;   // tokens that the other has no part of: left out
};

/// Of examples with places in one text, or of any with the same tokens. Throws Error for others.
Alignment align(const Description& first, const Description& second);

/// Result values over pieces instead of tokens: columns of a piece add up, its rows are averaged.
/// `values` is square.
Matrix merge(MatrixView values, const std::vector<std::vector<int>>& pieces);

}  // namespace headwater
