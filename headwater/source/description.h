// What a source says about itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headwater/source/patch_grid.h"

namespace headwater {

/// The position of a token in the text that it came from.
struct TokenPlace {
  int text = 0;               // 0: the text, 1: its pair, -1: none, an added special token
  size_t begin = 0, end = 0;  // bytes, half open
  bool operator==(const TokenPlace&) const = default;
};

/// What a model is, whatever it is run on.
struct ModelFacts {
  std::string family;
  std::string head;                  // what computes its logits, in words; "": nothing does
  std::vector<std::string> classes;  // their names, if it has classes and they have names
  int outputs = 0;                   // classes or words; 0 without a head
  std::optional<int> positions;      // the most tokens; none: no limit
  std::vector<int> windows;          // of each layer, 0: none; empty: none anywhere
  uint64_t parameters = 0;
  std::string types;  // of the weights: "f32"
};

struct Description {
  std::string kind;                 // "file", "memory", "model"
  std::string name;                 // as given by the caller
  std::vector<std::string> tokens;  // n of them, without padding
  int layers = 0;
  std::vector<int> heads;            // of each layer
  int item = 0;                      // the index of this item in its batch
  int items = 1;                     // the size of the batch
  int padded = 0;                    // the length with padding; n if there was none
  std::optional<PatchGrid> patches;  // for a vision model, whose tokens are patches
  std::optional<bool> causal;        // whether a model only looks back; none: unknown
  std::vector<int> ids;              // of a model's tokens; else empty
  std::vector<TokenPlace> places;    // of a model's tokens in its text; else empty
  std::vector<std::string> texts;    // the text, and its pair if there is one; else empty
};

}  // namespace headwater
