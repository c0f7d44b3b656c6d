// What a source says about itself.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "headwater/source/patch_grid.h"

namespace headwater {

/// Where a token stands in the text that it came from.
struct TokenPlace {
  int text = 0;               // 0 the text, 1 its pair, -1 none: a special token that was added
  size_t begin = 0, end = 0;  // bytes, half open
  bool operator==(const TokenPlace&) const = default;
};

/// What a source says of itself.
struct Description {
  std::string kind;                 // "file", "memory", "model"
  std::string name;                 // as the caller named it
  std::vector<std::string> tokens;  // n of them, padding already cropped
  int layers = 0;
  std::vector<int> heads;  // of each layer
  int item = 0;            // which of the batch this is, and
  int items = 1;           // how many the batch has
  int padded = 0;          // the length before padding was cropped; n where there was none
  std::optional<PatchGrid> patches;  // of a vision model, whose tokens are patches; else none
  std::optional<bool> causal;        // whether a model looks back only; none: not known
  std::vector<int> ids;              // of a model's tokens, else none
  std::vector<TokenPlace> places;    // of a model's tokens in its text, else none
};

}  // namespace headwater
