#include "headwater/result/token_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

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

bool spells_bytes(const std::vector<std::string>& tokens);

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
  return spells_bytes(tokens) ? Spelling::bytes : Spelling::word_piece;
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

// The bytes that the token stands for; none if a character is not in the table, as in a token that
// was added verbatim.
std::optional<std::string> bytes_of(const std::string& token) {
  std::string out;
  for (const char32_t c : code_points(token)) {
    const auto byte = byte_table().find(c);
    if (byte == byte_table().end()) return {};
    out += byte->second;
  }
  return out;
}

// The length of the character that begins with this byte; 1 for bytes that begin none.
size_t length_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0xC2 || byte > 0xF4) return 1;
  return byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// The end of the character of several bytes at `at`, or `at` if there is no whole one.
size_t end_of_character(std::string_view bytes, size_t at) {
  const size_t length = length_of_character(bytes[at]);
  if (length == 1 || length > bytes.size() - at) return at;
  const std::string_view character = bytes.substr(at, length);
  return valid_utf8(character) == character ? at + length : at;
}

// The characters of decoded tokens, with the bytes that are part of none as <0xE4>.
std::u32string characters_of(std::string_view bytes) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = end_of_character(bytes, at);
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (end == at && byte >= 0x80)
      out += {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
    else
      out += bytes.substr(at, std::max(end - at, size_t{1}));
    at = std::max(end, at + 1);
  }
  return code_points(out);
}

// Whether the tokens are a text in GPT-2's alphabet although none of them has a space: decoded,
// they are UTF-8 with at least one character of several bytes. Other texts are not: one accented
// letter alone is no UTF-8. Both ends may be cut off within a character.
bool spells_bytes(const std::vector<std::string>& tokens) {
  std::string bytes;
  for (const std::string& token : tokens) {
    if (token.starts_with('<') && token.ends_with('>')) continue;
    const std::optional<std::string> own = bytes_of(token);
    if (!own) return false;
    bytes += *own;
  }
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  size_t at = 0;
  while (at < bytes.size() && at < 3 && is_inside(bytes[at])) ++at;
  bool any = false;
  while (at < bytes.size()) {
    const size_t end = end_of_character(bytes, at);
    if (end == at && static_cast<unsigned char>(bytes[at]) >= 0x80)
      return any && length_of_character(bytes[at]) > bytes.size() - at &&
             std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 1, bytes.end(),
                         is_inside);
    any = any || end > at;
    at = std::max(end, at + 1);
  }
  return any;
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
  if (spelling == Spelling::bytes) return bytes_of(token).value_or(token);
  if (spelling == Spelling::sentence_piece) return decode_sentence_piece(token);
  return token;
}

// Tokens first ... first + parts - 1, each of which shares a character with the next.
struct Unit {
  std::string text;
  size_t first = 0;
  int parts = 0;
};

std::vector<Unit> units_of(const std::vector<std::string>& tokens, Spelling spelling) {
  std::string all;
  std::vector<size_t> begins;
  for (const std::string& token : tokens) {
    begins.push_back(all.size());
    all += decoded(token, spelling);
  }
  std::vector<bool> joined(tokens.size());  // to the token before it
  if (spelling == Spelling::bytes || spelling == Spelling::sentence_piece)
    for (size_t at = 0, t = 0; at < all.size();) {
      const size_t end = end_of_character(all, at);
      while (t + 1 < begins.size() && begins[t + 1] <= at) ++t;
      for (size_t next = t + 1; next < begins.size() && begins[next] < end; ++next)
        joined[next] = true;
      at = std::max(end, at + 1);
    }
  std::vector<Unit> units;
  for (size_t t = 0; t < tokens.size(); ++t) {
    const size_t end = t + 1 < begins.size() ? begins[t + 1] : all.size();
    if (!joined[t]) units.push_back({"", t, 0});
    units.back().text.append(all, begins[t], end - begins[t]);
    ++units.back().parts;
  }
  return units;
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

// Without the spaces before a word.
std::u32string word_of(const std::string& text) {
  std::u32string points = characters_of(text);
  if (points.size() > 1 && points[0] == ' ' && !std::all_of(points.begin(), points.end(), is_blank))
    points.erase(0, points.find_first_not_of(U' '));
  return points;
}

std::string label(const std::string& text, Spelling spelling, int longest) {
  if (spelling == Spelling::word_piece && continues_word(text))
    return shortened("\u00B7" + to_utf8(visible(code_points(std::string_view(text).substr(2)))),
                     longest);
  return shortened(to_utf8(visible(word_of(text))), longest);
}

std::vector<std::string> labels_of(const std::vector<std::string>& tokens, Spelling spelling,
                                   int longest) {
  std::vector<std::string> out;
  out.reserve(tokens.size());
  for (const Unit& unit : units_of(tokens, spelling)) {
    if (unit.parts == 1) {
      out.push_back(label(unit.text, spelling, longest));
      continue;
    }
    for (int part = 1; part <= unit.parts; ++part) {
      const std::string number = " " + std::to_string(part) + "/" + std::to_string(unit.parts);
      out.push_back(label(unit.text, spelling, longest - static_cast<int>(number.size())) + number);
    }
  }
  return out;
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
  return labels_of(tokens, spelling_of(tokens), longest);
}

std::vector<std::string> token_labels_after(const std::vector<std::string>& before,
                                            const std::vector<std::string>& tokens, int longest) {
  std::vector<std::string> all = before;
  all.insert(all.end(), tokens.begin(), tokens.end());
  // Generated tokens need not be valid text; input tokens are.
  const Spelling read = spelling_of(before);
  const std::vector<std::string> labels =
      labels_of(all, read == Spelling::bytes ? read : spelling_of(all), longest);
  return {labels.begin() + static_cast<std::ptrdiff_t>(before.size()), labels.end()};
}

std::vector<std::string> token_words(const std::vector<std::string>& tokens) {
  const Spelling spelling = spelling_of(tokens);
  std::vector<std::string> out;
  for (const Unit& unit : units_of(tokens, spelling)) {
    const bool continues = spelling == Spelling::word_piece && continues_word(unit.text);
    out.resize(out.size() + static_cast<size_t>(unit.parts),
               continues ? unit.text.substr(2) : to_utf8(word_of(unit.text)));
  }
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
  for (const Unit& unit : units_of(tokens, spelling)) {
    const size_t j = unit.first;
    for (int part = 1; part < unit.parts; ++part) out[j + static_cast<size_t>(part)].parts = 0;
    Piece& piece = out[j];
    piece.parts = unit.parts;
    if (spelling == Spelling::word_piece) {
      piece.space = j > 0 && apart(tokens[j - 1], tokens[j]);
      const std::string_view token = tokens[j];
      piece.text = shortened(harmless(continues_word(token) ? token.substr(2) : token), longest);
      continue;
    }
    std::u32string points = characters_of(unit.text);
    piece.ends_line = points.find(U'\n') != points.npos;
    if (points.size() > 1 && points[0] == ' ') {
      piece.space = j > 0;
      points.erase(0, 1);
    }
    piece.text = shortened(to_utf8(visible(points)), longest);
  }
  return out;
}

std::vector<float> piece_values(const std::vector<Piece>& pieces, std::span<const float> values,
                                std::vector<bool>& kept) {
  std::vector<float> out(values.begin(), values.end());
  for (size_t j = 0; j < pieces.size(); ++j) {
    if (pieces[j].parts < 2) continue;
    double sum = 0;
    bool any = false;
    for (size_t k = j; k < j + static_cast<size_t>(pieces[j].parts); ++k) {
      if (kept[k]) sum += double{values[k]};
      any = any || kept[k];
      kept[k] = false;
      out[k] = 0;
    }
    out[j] = static_cast<float>(sum);
    kept[j] = any;
  }
  return out;
}

}  // namespace headwater
