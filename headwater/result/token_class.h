// What sort of token a token is, told from its text alone.
#pragma once
#include <string_view>

namespace headwater {

/// A mark of the model rather than of the text: [CLS], [unused12], <s>, </s>, <pad>, <mask>, <bos>,
/// <|endoftext|>, <start_of_turn>, ... A bracketed word is special only in capitals or as one of a
/// fixed list, so that "<b>" and "[sic]" are text.
bool is_special(std::string_view token);

/// Punctuation and symbols only, at least one: "." "..." "--" and the like in ASCII, Latin-1,
/// general punctuation, Chinese, Japanese, Arabic and full-width forms. `text` is a token as it is
/// shown.
bool is_punctuation(std::string_view text);

/// An English function word (the, of, to, is, ...), in capitals or not. `text` is a token as it is
/// shown.
bool is_common(std::string_view text);

}  // namespace headwater
