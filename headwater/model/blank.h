// Inputs of which the model is not to see some tokens.
#pragma once
#include <span>

#include "headwater/model/model.h"

namespace headwater {

/// The id of [MASK] or <mask>, else of [UNK] or <unk>. Throws Error if the model's tokenizer has
/// none of them, or if there is no tokenizer.
int blank_token(const Model& model);

/// The text with `blank` in place of these tokens.
TextInput blanked(const TextInput& input, int blank, std::span<const int> tokens);

/// The image with 0, the mean colour, in place of these patches; tokens count from the first
/// prefix. Throws Error for a token before the patches.
Pixels blanked(const Model& model, const Pixels& pixels, std::span<const int> tokens);

}  // namespace headwater
