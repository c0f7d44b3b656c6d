// Tokens as people read them. Vocabularies mark where words begin in their own ways; which way a
// list of tokens uses is told from the whole list:
//   byte-level BPE  a token with U+0120 or U+010A in it (GPT-2, Llama 3, ...): every token is
//   decoded by GPT-2's
//                   table of bytes; a character that is split over tokens shows as U+FFFD in each
//   SentencePiece   a token that begins with U+2581: that mark is a space, <0x0A> is a byte
//   as it is        a token that begins with white space: tokens are parts of the text already
//   WordPiece       else: words are apart by a space, "##ing" continues the word before
// What comes out is valid UTF-8 without control characters, line ends or marks that turn the
// direction of writing: they show as U+2423 (space), U+23CE (line end), U+21E5 (tab), the pictures
// of U+2400, or U+FFFD.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// For axes and tables: the mark of a word's beginning is dropped, "##ing" becomes U+00B7 "ing",
/// white space alone is shown, and more than `longest` characters are shortened in the middle by
/// U+2026. One for each token, never empty except for an empty token.
std::vector<std::string> token_labels(const std::vector<std::string>& tokens, int longest = 24);

/// A token in running text.
struct Piece {
  std::string text;        // may be empty: a token that is the space before the next word
  bool space = false;      // a space stands before it
  bool ends_line = false;  // the text has a line end here
};

/// The text that the tokens make, a piece for each: words apart, punctuation without a space before
/// it.
std::vector<Piece> running_text(const std::vector<std::string>& tokens, int longest = 64);

/// At most `longest` characters: the middle is replaced by U+2026.
std::string shortened(std::string_view utf8, int longest);

/// Valid UTF-8 without anything that a terminal or a layout could take for a command; see above.
std::string harmless(std::string_view bytes);

}  // namespace headwater
