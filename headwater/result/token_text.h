// Tokens as people read them. Vocabularies mark the start of a word in different ways. The way is
// decided from the whole list of tokens:
//   byte-level BPE  a token contains U+0120 or U+010A (GPT-2, Llama 3, ...), or the tokens are
//                   UTF-8 once GPT-2's byte table decodes them: it then decodes every token
//   SentencePiece   a token starts with U+2581: that mark is a space, <0x0A> is a byte
//   verbatim        a token starts with white space: tokens are already parts of the text
//   WordPiece       otherwise: a space separates words, "##ing" continues the previous word
// Tokens that are parts of one character form a unit, which is shown as a whole. Bytes that are
// part of no character show as <0xE4>, as SentencePiece has them.
// The output is valid UTF-8 without control characters, line ends or marks that change the
// direction of writing. Those show as U+2423 (space), U+23CE (line end), U+21E5 (tab), the control
// pictures from U+2400 on, or U+FFFD.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// For axes and tables. Drops the mark at the start of a word, turns "##ing" into U+00B7 "ing", and
/// makes a token of white space visible. Labels of more than `longest` characters get U+2026 in
/// place of their middle. Part 2 of a unit of three tokens is its text and " 2/3". Returns one
/// label for each token; only an empty token has an empty label.
std::vector<std::string> token_labels(const std::vector<std::string>& tokens, int longest = 24);

/// The labels of tokens that continue the text of `before`, such as those that a model generated.
std::vector<std::string> token_labels_after(const std::vector<std::string>& before,
                                            const std::vector<std::string>& tokens,
                                            int longest = 24);

/// The text of each token, or of its unit, as it is: without the mark of a word's start and the
/// spaces there, but with line ends. For looking tokens up, not for showing them.
std::vector<std::string> token_words(const std::vector<std::string>& tokens);

/// A token in running text.
struct Piece {
  std::string text;        // may be empty, for a token that is the space before the next word
  bool space = false;      // there is a space before it
  bool ends_line = false;  // the text has a line end here
  int parts = 1;  // how many tokens this is the text of; 0: it belongs to the piece before it
};

/// The text of the tokens, one piece for each. Words are separated; punctuation follows directly.
std::vector<Piece> running_text(const std::vector<std::string>& tokens, int longest = 64);

/// A token as part of the text, before anything is made visible.
struct SpeltToken {
  std::string text;      // with a space in front if it begins a word; a split character is bytes
  bool goes_on = false;  // its marks say that it continues the previous word
};

std::vector<SpeltToken> spelt(const std::vector<std::string>& tokens);

/// The values of the pieces: a unit's value is the sum over its kept tokens, and its tokens after
/// the first have none. Sets `kept` of the first, if any of them is kept.
std::vector<float> piece_values(const std::vector<Piece>& pieces, std::span<const float> values,
                                std::vector<bool>& kept);

/// At most `longest` characters: U+2026 replaces the middle.
std::string shortened(std::string_view utf8, int longest);

/// Valid UTF-8 without anything that a terminal or a layout could read as a command; see above.
std::string harmless(std::string_view bytes);

}  // namespace headwater
