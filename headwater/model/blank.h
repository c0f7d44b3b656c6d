// Inputs with some tokens hidden from the model.
#pragma once
#include <optional>
#include <span>

#include "headwater/model/model.h"

namespace headwater {

/// The id of [MASK] or <mask>; none if the tokenizer has neither. Throws Error if there is no
/// tokenizer.
std::optional<int> find_mask_token(const Model& model);
/// The id of [MASK] or <mask>, else of [UNK] or <unk>; none if the tokenizer has none of them.
/// Throws Error if there is no tokenizer.
std::optional<int> find_blank_token(const Model& model);
/// The same, but throws Error if there is none.
int blank_token(const Model& model);

/// The text with `blank` in place of these tokens.
TextInput blanked(const TextInput& input, int blank, std::span<const int> tokens);

/// The image with 0, the mean colour, in place of these patches. Tokens are counted from the first
/// prefix token. Throws Error for a token before the patches.
Pixels blanked(const Model& model, const Pixels& pixels, std::span<const int> tokens);

}  // namespace headwater
