// Classifies a token by its text alone.
#pragma once
#include <string_view>

namespace headwater {

/// A token of the model rather than of the text: [CLS], [unused12], <s>, </s>, <pad>, <mask>,
/// <bos>, <|endoftext|>, <start_of_turn>, ... A bracketed word is special only in capitals or if it
/// is on a fixed list, so "<b>" and "[sic]" count as text. So do [UNK] and <unk>: they stand for a
/// word of the text.
bool is_special(std::string_view token);

/// At least one character, and only punctuation, symbols and white space: "." "..." "--" and
/// similar in ASCII, Latin-1, general punctuation, Chinese, Japanese, Arabic and full-width forms,
/// and line ends. `text` is the text of a token.
bool is_punctuation(std::string_view text);

/// An English function word (the, of, to, is, ...) in any case. `text` is a token as displayed.
bool is_common(std::string_view text);

}  // namespace headwater
