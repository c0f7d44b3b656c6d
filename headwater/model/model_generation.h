// A decoder that generates text: key and value cache, end tokens, and the tokenizer's words.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/model/model.h"
#include "headwater/source/generation.h"

namespace headwater {

/// How a text starts, and what ends it.
struct GenerationInput {
  std::string prompt = {};                       // the start of the text, or
  std::vector<int> ids = {};                     // its tokens by number; nothing is added to them
  std::optional<std::string> continuation = {};  // a given text after the prompt
  std::vector<std::string> stops = {};  // words or ids that end the text, like the model's own
};

/// A causal language model. Prompt and continuation are tokenized as one text; a token that extends
/// past the end of the prompt counts as generated. `name` is the model's name in results. Throws
/// Error if the model cannot generate or if there is no prompt.
std::unique_ptr<Generation> start_generation(std::shared_ptr<const Model> model,
                                             const GenerationInput& input, const std::string& name);

}  // namespace headwater
