#include "headwater/result/token_class.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "headwater/core/utf8.h"

namespace headwater {
namespace {

// Sorted, for binary search.
constexpr std::string_view angled[] = {
    "bos",
    "bot",
    "cls",
    "end",
    "end_of_image",
    "end_of_text",
    "end_of_turn",
    "endoftext",
    "eos",
    "image",
    "mask",
    "pad",
    "s",
    "sep",
    "start",
    "start_of_image",
    "start_of_turn",
    "think",
};
constexpr std::string_view function_words[] = {
    "a",    "about", "after", "all",   "also", "am",    "an",   "and",   "any",    "are",   "as",
    "at",   "be",    "been",  "being", "but",  "by",    "can",  "could", "did",    "do",    "does",
    "for",  "from",  "had",   "has",   "have", "he",    "her",  "him",   "his",    "how",   "i",
    "if",   "in",    "into",  "is",    "it",   "its",   "just", "me",    "my",     "no",    "not",
    "of",   "on",    "or",    "our",   "out",  "over",  "s",    "she",   "should", "so",    "some",
    "such", "t",     "than",  "that",  "the",  "their", "them", "then",  "there",  "these", "they",
    "this", "those", "to",    "too",   "up",   "us",    "very", "was",   "we",     "were",  "what",
    "when", "where", "which", "while", "who",  "will",  "with", "would", "you",    "your",
};

bool is_upper(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}
bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

// A numbered word inside "[...]", "<...>" or "</...>", such as <extra_id_7> or [unused12].
bool is_reserved(std::string_view word) {
  const size_t end = word.find_last_not_of("0123456789");
  const std::string_view stem = end == word.npos ? std::string_view() : word.substr(0, end + 1);
  return stem.size() < word.size() &&
         (stem == "extra_id_" || stem == "unused" || stem == "reserved_" || stem == "special_" ||
          stem == "mask_" || stem == "reserved_special_token_");
}

bool punctuates(char32_t c) {
  if (c == ' ' || (c >= '\t' && c <= '\r') || c == 0xA0 || c == 0x3000) return true;
  if (c < 0x80)
    return c > 0x20 && c < 0x7F && !is_letter(static_cast<char>(c)) && !(c >= '0' && c <= '9');
  if (c < 0xC0)
    return c > 0xA0 && c != 0xAA && c != 0xB2 && c != 0xB3 && c != 0xB5 && c != 0xB9 && c != 0xBA &&
           !(c >= 0xBC && c <= 0xBE);
  return c == 0xD7 || c == 0xF7 || c == 0x60C || c == 0x61B || c == 0x61F ||
         (c >= 0x66A && c <= 0x66D) || c == 0x6D4 || c == 0x964 || c == 0x965 ||
         (c >= 0x2010 && c <= 0x2027) || (c >= 0x2030 && c <= 0x205E) ||
         (c >= 0x20A0 && c <= 0x20C0) || (c >= 0x2190 && c <= 0x22FF) ||
         (c >= 0x2E00 && c <= 0x2E5D) || (c >= 0x3001 && c <= 0x3003) ||
         (c >= 0x3008 && c <= 0x3020) || c == 0x3030 || c == 0x30FB ||
         (c >= 0xFE30 && c <= 0xFE6B) || (c >= 0xFF01 && c <= 0xFF0F) ||
         (c >= 0xFF1A && c <= 0xFF20) || (c >= 0xFF3B && c <= 0xFF40) ||
         (c >= 0xFF5B && c <= 0xFF65);
}

}  // namespace

bool is_special(std::string_view token) {
  if (token.size() < 3 || token == "[UNK]") return false;
  const std::string_view inside = token.substr(1, token.size() - 2);
  if (token.front() == '[' && token.back() == ']')
    return is_reserved(inside) || (std::all_of(inside.begin(), inside.end(), is_upper) &&
                                   std::any_of(inside.begin(), inside.end(), is_letter));
  if (token.front() != '<' || token.back() != '>') return false;
  if (inside.size() > 2 && inside.front() == '|' && inside.back() == '|') return true;
  const std::string word = lower(inside.front() == '/' ? inside.substr(1) : inside);
  return is_reserved(word) || std::binary_search(std::begin(angled), std::end(angled), word);
}

bool is_punctuation(std::string_view text) {
  const std::u32string points = code_points(text);
  return !points.empty() &&
         std::all_of(points.begin(), points.end(), [](char32_t c) { return punctuates(c); });
}

bool is_common(std::string_view text) {
  return std::binary_search(std::begin(function_words), std::end(function_words), lower(text));
}

}  // namespace headwater
