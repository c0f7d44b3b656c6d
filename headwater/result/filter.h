// Tokens to leave out of displays and rankings. [CLS] and similar tokens take half of the mass and
// say little.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

struct Filter {
  bool special = false;         // [CLS] [SEP] <s> </s> <pad> <|endoftext|> and similar
  bool punctuation = false;     // tokens that are only punctuation and white space
  bool common = false;          // English function words: the, of, to, is, ...
  std::set<std::string> words;  // these tokens, spelt as in the source or as displayed
  bool renormalise = false;     // divide what is left of each row by its sum

  bool any() const { return special || punctuation || common || !words.empty(); }
};

/// Parses "special,punctuation,common,@FILE", where FILE has one token a line. Throws Error for an
/// unknown word (usage) or an unreadable file.
Filter parse_filter(std::string_view text);

/// Whether each token is shown.
std::vector<bool> kept(const Filter& filter, const std::vector<std::string>& tokens);

}  // namespace headwater
