// Tokens that are left out of what is shown and ranked: [CLS] and its like take half of the mass
// and say little.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

struct Filter {
  bool special = false;         // [CLS] [SEP] <s> </s> <pad> <|endoftext|> and their like
  bool punctuation = false;     // tokens of punctuation only
  bool common = false;          // English function words: the, of, to, is, ...
  std::set<std::string> words;  // these tokens, as their source has them or as they are shown
  bool renormalise = false;     // the rows of what is left are divided by their sums

  bool any() const { return special || punctuation || common || !words.empty(); }
};

/// Reads "special,punctuation,common,@FILE" (a token a line in FILE). Throws Error for an unknown
/// word (usage) or a file that cannot be read.
Filter parse_filter(std::string_view text);

/// For each token whether it is shown.
std::vector<bool> kept(const Filter& filter, const std::vector<std::string>& tokens);

}  // namespace headwater
