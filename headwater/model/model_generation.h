// A decoder that writes: key and value cache, end tokens, and the tokenizer's words.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/model/model.h"
#include "headwater/source/generation.h"

namespace headwater {

/// What a text begins with, and what ends it.
struct GenerationInput {
  std::string prompt = {};                       // or
  std::vector<int> ids = {};                     // tokens by number; nothing is added to them
  std::optional<std::string> continuation = {};  // a text that is already there, after the prompt
  std::vector<std::string> stops = {};  // words or ids that end the text like the model's own
};

/// A causal model with a head over its vocabulary. Prompt and continuation are tokenized as one
/// text; a token that reaches over the end of the prompt counts as generated. Throws Error if the
/// model cannot write or if there is no prompt.
/// `name` is what results call the model.
std::unique_ptr<Generation> start_generation(std::shared_ptr<const Model> model,
                                             const GenerationInput& input, const std::string& name);

}  // namespace headwater
