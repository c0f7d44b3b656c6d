// A text that a model wrote, and which prompt tokens each of its tokens comes from.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headwater/result/attribution.h"

namespace headwater {

struct GenerateOptions {
  int count = 20;          // tokens at most; with a continuation: all of it
  double temperature = 0;  // 0: always the best token
  int top_k = 0;           // of the k best only; 0: of all
  double top_p = 1;        // of the fewest best that have this share of the probability
  uint64_t seed = 0;
  bool ignore_end = false;    // go on after the model's end token
  bool own_position = false;  // attribute a token at its own position
  bool attribute = true;      // false: only the text
};

struct Generated {
  Options options;
  GenerateOptions how;
  Description prompt;
  Range layers;                     // options.layers, resolved
  std::vector<std::string> tokens;  // generated, and
  std::vector<int> ids;             // their ids
  std::string text;                 // that they stand for
  bool ended = false;               // by the model's end token
  std::vector<Matrix> values;       // values[s](j, l) is M[s, j, l]; none if not asked for
  std::optional<int> shown;         // the one token that pictures are of; none: all
  bool shown_by_layer = false;      // with that: each layer, not the last alone
  std::vector<std::string> notes;
  Timing timing;
};

/// M of one layer (-1: the last) as a result like others: a row for each generated token, a column
/// for each prompt token.
Attribution at_layer(const Generated& generated, int layer = -1);
/// M of one generated token: a matrix of one row for each layer, or with `last` that of the last.
Attribution of_token(const Generated& generated, int token, bool last = false);

}  // namespace headwater
