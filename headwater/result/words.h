// Pieces of words put together again.
//
// A run of tokens without a space between them is a word, except that punctuation at its ends
// stands alone: "mat." is "mat" and ".", "don't" is one word. Where the tokens' places in the text
// are known, they say whether there is a space. Otherwise the vocabulary's marks do (token_text.h):
// "##ing" goes on with a word, and U+0120, U+2581 or a space begins one. Special tokens stand
// alone. Chinese, Japanese and Thai have no spaces, so there each token stays as it is.
#pragma once
#include <string>
#include <vector>

#include "headwater/core/range.h"
#include "headwater/result/attribution.h"
#include "headwater/source/description.h"

namespace headwater {

/// The tokens of each word, in order; every token is in one.
std::vector<Range> words_of(const Description& source);
/// The text of each of these words.
std::vector<std::string> word_names(const Description& source, const std::vector<Range>& words);

/// The result by words. The columns of a word's pieces are added. If the result has all rows, the
/// rows of a word are averaged; if it has some, each stays that of its piece, and a note says so.
/// result.pieces has the tokens of each word. Throws Error (usage) for flow, whose values do not
/// add up, for patches of an image, and for results that hold edges or a single column.
Attribution merge_words(Attribution result);

}  // namespace headwater
