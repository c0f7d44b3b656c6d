// A decoder that writes: key and value cache, end tokens, and the tokenizer's words.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/source/generation.h"

namespace headwater {

/// What a text begins with, and how far it may grow.
struct GenerationInput {
  std::string prompt;                       // or
  std::vector<int> ids;                     // tokens by number; nothing is added to them
  std::optional<std::string> continuation;  // a text that is already there, after the prompt
  std::vector<std::string> stops;           // words or ids that end the text like the model's own
  int count = 20;    // room for so many tokens after the prompt, or for the continuation
  std::string name;  // what results call the model; \"\": the folder
};

/// A causal model with a head over its vocabulary. Prompt and continuation are tokenized as one
/// text; a token that reaches over the end of the prompt counts as generated. Throws Error if the
/// model cannot write, if there is no prompt, or if it and `count` are more than its positions.
std::unique_ptr<Generation> open_generation(const std::string& folder,
                                            const GenerationInput& input);

}  // namespace headwater
