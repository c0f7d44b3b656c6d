// Entries of config.json that mean the same in every family.
#pragma once
#include <optional>
#include <string>

#include "headwater/model/config.h"

namespace headwater {

/// Marks entries for training, generation, other outputs or bookkeeping, which a forward pass does
/// not use.
void pass_over_bookkeeping(const Config& config);

/// Throws Error, which names the entry, if one asks for something that changes the numbers and that
/// no family here computes: quantised weights, cross attention, another mask, ALiBi.
/// `has_decoder`: of a family with an encoder and a decoder.
void refuse_other_models(const Config& config, bool causal, bool has_decoder);

/// The first model class that "auto_map" takes from code in the folder ("AutoModelForCausalLM"), if
/// there is one.
std::optional<std::string> own_code(const Config& config);

}  // namespace headwater
