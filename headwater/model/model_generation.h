// A decoder that generates text: key and value cache, end tokens, and the tokenizer's words.
#pragma once
#include <memory>
#include <string>

#include "headwater/model/generation_input.h"
#include "headwater/model/model.h"
#include "headwater/source/generation.h"

namespace headwater {

/// A causal language model. Prompt and continuation are tokenized as one text; a token that extends
/// past the end of the prompt counts as generated. `name` is the model's name in results. Throws
/// Error if the model cannot generate or if there is no prompt.
std::unique_ptr<Generation> start_generation(std::shared_ptr<const Model> model,
                                             const GenerationInput& input, const std::string& name);

}  // namespace headwater
