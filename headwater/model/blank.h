// Inputs of which the model is not to see some tokens.
#pragma once
#include <optional>
#include <span>

#include "headwater/model/model.h"

namespace headwater {

/// The id of [MASK] or <mask>, else of [UNK] or <unk>; none if the model's tokenizer knows none of
/// them. Throws Error if there is no tokenizer.
std::optional<int> find_blank_token(const Model& model);
/// The same, but throws Error where there is none.
int blank_token(const Model& model);

/// The text with `blank` in place of these tokens.
TextInput blanked(const TextInput& input, int blank, std::span<const int> tokens);

/// The image with 0, the mean colour, in place of these patches; tokens count from the first
/// prefix. Throws Error for a token before the patches.
Pixels blanked(const Model& model, const Pixels& pixels, std::span<const int> tokens);

}  // namespace headwater
