#include "headwater/result/token_text.h"

#include <algorithm>
#include <array>
#include <map>

#include "headwater/core/display_width.h"
#include "headwater/core/utf8.h"
#include "headwater/result/token_class.h"

namespace headwater {
namespace {

constexpr std::string_view word_start = "\u2581";

enum class Spelling { bytes, sentence_piece, verbatim, word_piece };

bool is_blank(char32_t c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == 0xA0; }

bool continues_word(std::string_view token) {
  return token.size() > 2 && token.starts_with("##") && token[2] != '#';
}

Spelling spelling_of(const std::vector<std::string>& tokens) {
  const auto any = [&](auto holds) { return std::any_of(tokens.begin(), tokens.end(), holds); };
  // U+0120 and U+010A are letters in Maltese, so the marks of other vocabularies are checked first.
  if (any(continues_word)) return Spelling::word_piece;
  if (any([](const std::string& token) { return token.starts_with(word_start); }))
    return Spelling::sentence_piece;
  if (any([](const std::string& token) {
        return token.find("\u0120") != token.npos || token.find("\u010A") != token.npos;
      }))
    return Spelling::bytes;
  if (any([](const std::string& token) {
        return !token.empty() && is_blank(static_cast<unsigned char>(token[0]));
      }))
    return Spelling::verbatim;
  return Spelling::word_piece;
}

// GPT-2 writes printable bytes as themselves and the other 68, in order, as U+0100 and up.
const std::map<char32_t, char>& byte_table() {
  static const std::map<char32_t, char> table = [] {
    std::map<char32_t, char> bytes;
    char32_t next = 0x100;
    for (char32_t b = 0; b < 256; ++b) {
      const bool prints =
          (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
      bytes[prints ? b : next++] = static_cast<char>(b);
    }
    return bytes;
  }();
  return table;
}

std::string decode_bytes(const std::string& token) {
  std::string out;
  for (const char32_t c : code_points(token)) {
    const auto byte = byte_table().find(c);
    // A token that was added verbatim, with characters outside the table.
    if (byte == byte_table().end()) return token;
    out += byte->second;
  }
  return out;
}

std::string decode_sentence_piece(const std::string& token) {
  if (token.size() == 6 && token.starts_with("<0x") && token.back() == '>')
    return {static_cast<char>(std::strtol(token.substr(3, 2).c_str(), nullptr, 16))};
  std::string out;
  for (const char32_t c : code_points(token))
    out += c == 0x2581 ? " " : to_utf8(std::u32string_view(&c, 1));
  return out;
}

// The token as text; if it starts a word, with a leading space.
std::string decoded(const std::string& token, Spelling spelling) {
  if (spelling == Spelling::bytes) return decode_bytes(token);
  if (spelling == Spelling::sentence_piece) return decode_sentence_piece(token);
  return token;
}

char32_t shown(char32_t c, bool blank) {
  if (c == ' ' || c == 0xA0) return blank ? 0x2423 : U' ';
  if (c == '\n') return 0x23CE;
  if (c == '\t') return 0x21E5;
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return 0x2421;
  return is_unprintable(c) ? 0xFFFD : c;
}

std::u32string visible(const std::u32string& points) {
  const bool blank = std::all_of(points.begin(), points.end(), is_blank);
  std::u32string out;
  for (const char32_t c : points) out += shown(c, blank);
  return out;
}

bool holds_cjk(char32_t c) {
  return c >= 0x2E80 && c != 0x3000 && c < 0x1F000 && display_width(c) == 2;
}

// Whether there was a space between WordPiece tokens a and b. The vocabulary does not say, so this
// guesses.
bool apart(const std::string& a, const std::string& b) {
  if (continues_word(b) || a.empty() || b.empty()) return false;
  if (is_special(a) || is_special(b)) return true;
  const std::u32string before = code_points(a), after = code_points(b);
  if (holds_cjk(before.back()) && (holds_cjk(after.front()) || is_punctuation(b))) return false;
  if (holds_cjk(after.front()) && is_punctuation(a)) return false;
  static constexpr std::string_view closing[] = {".", ",",   "!",      "?",      ";",     ":",
                                                 ")", "]",   "}",      "%",      "'",     "-",
                                                 "/", "...", "\u2019", "\u201D", "\u2026"};
  static constexpr std::string_view opening[] = {"(", "[", "{",      "$",      "'",     "-",
                                                 "/", "#", "\u2018", "\u2019", "\u201C"};
  return std::find(std::begin(closing), std::end(closing), b) == std::end(closing) &&
         std::find(std::begin(opening), std::end(opening), a) == std::end(opening);
}

std::string label(const std::string& token, Spelling spelling, int longest) {
  if (spelling == Spelling::word_piece && continues_word(token))
    return shortened("\u00B7" + to_utf8(visible(code_points(std::string_view(token).substr(2)))),
                     longest);
  std::u32string points = code_points(decoded(token, spelling));
  if (points.size() > 1 && points[0] == ' ' && !std::all_of(points.begin(), points.end(), is_blank))
    points.erase(0, points.find_first_not_of(U' '));
  return shortened(to_utf8(visible(points)), longest);
}

}  // namespace

std::string shortened(std::string_view utf8, int longest) {
  const std::u32string points = code_points(utf8);
  const size_t limit = static_cast<size_t>(std::max(longest, 3));
  if (points.size() <= limit) return to_utf8(points);
  const size_t tail = (limit - 1) / 2, head = limit - 1 - tail;
  return to_utf8(points.substr(0, head)) + "\u2026" + to_utf8(points.substr(points.size() - tail));
}

std::string harmless(std::string_view bytes) {
  std::u32string out;
  for (const char32_t c : code_points(bytes)) out += shown(c, false);
  return to_utf8(out);
}

std::vector<std::string> token_labels(const std::vector<std::string>& tokens, int longest) {
  const Spelling spelling = spelling_of(tokens);
  std::vector<std::string> out;
  out.reserve(tokens.size());
  for (const std::string& token : tokens) out.push_back(label(token, spelling, longest));
  return out;
}

std::vector<SpeltToken> spelt(const std::vector<std::string>& tokens) {
  const Spelling spelling = spelling_of(tokens);
  std::vector<SpeltToken> out;
  for (const std::string& token : tokens) {
    if (spelling == Spelling::word_piece) {
      const bool goes_on = continues_word(token);
      out.push_back({goes_on ? token.substr(2) : token, goes_on});
      continue;
    }
    std::string text = decoded(token, spelling);
    const bool goes_on = !text.empty() && !is_blank(static_cast<unsigned char>(text[0]));
    out.push_back({std::move(text), goes_on});
  }
  return out;
}

std::vector<Piece> running_text(const std::vector<std::string>& tokens, int longest) {
  const Spelling spelling = spelling_of(tokens);
  std::vector<Piece> out(tokens.size());
  for (size_t j = 0; j < tokens.size(); ++j) {
    Piece& piece = out[j];
    if (spelling == Spelling::word_piece) {
      piece.space = j > 0 && apart(tokens[j - 1], tokens[j]);
      const std::string_view token = tokens[j];
      piece.text = shortened(harmless(continues_word(token) ? token.substr(2) : token), longest);
      continue;
    }
    std::u32string points = code_points(decoded(tokens[j], spelling));
    piece.ends_line = points.find(U'\n') != points.npos;
    if (points.size() > 1 && points[0] == ' ') {
      piece.space = j > 0;
      points.erase(0, 1);
    }
    piece.text = shortened(to_utf8(visible(points)), longest);
  }
  return out;
}

}  // namespace headwater
