// A generated text by words in place of tokens, on both sides.
#pragma once
#include "headwater/result/generated.h"

namespace headwater {

/// The columns of a prompt word's pieces are added; the rows of a generated word's pieces are
/// averaged, and so are the outputs and biases of relevance, which also adds the columns of
/// generated words. A generated word begins at the first generated token, even if it continues
/// the last word of the prompt. `pieces` and `generated_pieces` have the tokens of each word; ids
/// stay those of tokens; `choices`, which are about tokens, are left out. Throws Error (usage) for
/// a span that cuts a word, and for a text that was written from a source.
Generated merge_words(Generated result);

}  // namespace headwater
