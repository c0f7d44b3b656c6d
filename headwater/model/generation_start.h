// How a generated text starts, and what ends it.
#pragma once
#include <vector>

#include "headwater/model/generation_input.h"
#include "headwater/model/model.h"
#include "headwater/source/description.h"

namespace headwater {

/// The tokens before the first that is generated, and those that are known after it.
struct GenerationStart {
  Description prompt;             // tokens, ids, places and texts; of a decoder beside an encoder:
                                  //   its start token, then the prompt
  std::vector<int> continuation;  // empty: the model is to choose
  std::vector<int> ends;
  std::vector<std::string> notes;  // how the folder would choose tokens, if not done here
};

/// Prompt and continuation are tokenized as one text; a token that extends past the end of the
/// prompt counts as generated. Throws Error if there are no tokens where some are needed, or no
/// tokenizer.
GenerationStart start_of(const Model& model, const GenerationInput& input);

/// What the encoder of `input` reads, tokenized with its special tokens. `decoder` says how many
/// layers and heads a result has. Throws Error as start_of().
Description source_of(const Model& decoder, const GenerationInput& input);

}  // namespace headwater
