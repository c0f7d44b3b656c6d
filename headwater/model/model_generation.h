// A decoder that writes: key and value cache, end tokens, and the tokenizer's words.
#pragma once
#include <memory>
#include <string>

#include "headwater/model/generation_input.h"
#include "headwater/model/model.h"
#include "headwater/source/generation.h"

namespace headwater {

/// A causal model with a head over its vocabulary. Prompt and continuation are tokenized as one
/// text; a token that reaches over the end of the prompt counts as generated. Throws Error if the
/// model cannot write or if there is no prompt.
/// `name` is what results call the model.
std::unique_ptr<Generation> start_generation(std::shared_ptr<const Model> model,
                                             const GenerationInput& input, const std::string& name);

}  // namespace headwater
