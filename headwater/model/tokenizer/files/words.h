// Vocabularies and merges as older tokenizers keep them, and as JSON.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headwater {

/// Tokens and their ids.
using Words = std::unordered_map<std::string, int>;
using Merges = std::vector<std::pair<std::string, std::string>>;

/// vocab.txt: one token a line, whose number is its id.
Words read_word_list(const std::string& path);
/// vocab.json: an object of tokens and ids.
Words read_word_numbers(const std::string& path);
/// merges.txt: two tokens a line.
Merges read_merges(const std::string& path);
/// All pairs of tokens that make up a third, in the order of its id: what a BPE model of
/// SentencePiece does by the scores of its pieces.
Merges merges_of(const Words& words);

/// As JSON.
std::string json_text(std::string_view text);
std::string vocabulary(const Words& words);
std::string merge_list(const Merges& merges);

}  // namespace headwater
