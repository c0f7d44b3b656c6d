#include "headwater/output/page/token_document.h"

#include <algorithm>

#include "headwater/result/token_class.h"
#include "headwater/result/token_text.h"

namespace headwater {
namespace {

struct Parts {
  std::vector<std::string> before, text;
};

// The first place at or after `at` where a character begins.
size_t next_character(const std::string& text, size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return std::min(at, text.size());
}

Parts parts_of(const Description& source) {
  Parts out;
  size_t done = 0;
  int current = 0;
  for (const TokenPlace& place : source.places) {
    std::string before, own;
    if (place.text >= 0 && place.text < static_cast<int>(source.texts.size())) {
      const std::string& text = source.texts[static_cast<size_t>(place.text)];
      if (place.text != current) {
        current = place.text;
        done = 0;
        before = "\n";
      }
      const size_t begin = next_character(text, std::max(place.begin, done));
      const size_t end = std::max(begin, next_character(text, place.end));
      before += text.substr(done, begin - done);
      own = text.substr(begin, end - begin);
      done = end;
    }
    out.before.push_back(std::move(before));
    out.text.push_back(std::move(own));
  }
  return out;
}

Parts parts_of(const std::vector<std::string>& tokens) {
  Parts out;
  bool line = false;
  for (const Piece& piece : running_text(tokens, 1 << 20)) {
    out.before.push_back(line ? "\n" : piece.space && !out.text.empty() ? " " : "");
    out.text.push_back(piece.text);
    line = piece.ends_line;
  }
  return out;
}

Document made_of(const std::vector<std::string>& tokens, Parts parts, std::vector<int> special) {
  for (const int k : special) parts.text[static_cast<size_t>(k)].clear();
  Document out;
  out.fields = {{"labels", token_labels(tokens)},
                {"before", std::move(parts.before)},
                {"text", std::move(parts.text)},
                {"special", std::move(special)}};
  return out;
}

}  // namespace

Document token_document(const Description& source) {
  if (source.texts.empty() || source.places.size() != source.tokens.size())
    return token_document(source.tokens);
  std::vector<int> special;
  for (size_t t = 0; t < source.tokens.size(); ++t)
    if (source.places[t].text < 0 || is_special(source.tokens[t]))
      special.push_back(static_cast<int>(t));
  return made_of(source.tokens, parts_of(source), std::move(special));
}

Document token_document(const std::vector<std::string>& tokens) {
  std::vector<int> special;
  for (size_t t = 0; t < tokens.size(); ++t)
    if (is_special(tokens[t])) special.push_back(static_cast<int>(t));
  return made_of(tokens, parts_of(tokens), std::move(special));
}

}  // namespace headwater
