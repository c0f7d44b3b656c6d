#include "headwater/model/tokenizer/decoder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include "headwater/core/fail.h"
#include "headwater/core/utf8.h"
#include "headwater/model/tokenizer/budget.h"
#include "headwater/model/tokenizer/byte_alphabet.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/normalizer.h"
#include "headwater/model/tokenizer/pattern.h"
#include "headwater/model/tokenizer/pre_tokenizer.h"

namespace headwater {
namespace {

using Tokens = std::vector<std::string>;

// An empty `from` matches between all characters, before the first and after the last.
std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty()) {
    for (size_t at = 0; at < text.size();) {
      const auto length = static_cast<size_t>(length_of(text[at]));
      out.append(to).append(text.substr(at, length));
      at += length;
    }
    return out.append(to);
  }
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != text.npos; at = found + from.size())
    out.append(text.substr(at, found - at)).append(to);
  return out.append(text.substr(at));
}

// Removes spaces before punctuation and similar, which English does not have.
std::string tidy(std::string text) {
  static constexpr std::array<std::array<std::string_view, 2>, 11> rules = {{{" .", "."},
                                                                             {" ?", "?"},
                                                                             {" !", "!"},
                                                                             {" ,", ","},
                                                                             {" ' ", "'"},
                                                                             {" n't", "n't"},
                                                                             {" 'm", "'m"},
                                                                             {" do not", " don't"},
                                                                             {" 's", "'s"},
                                                                             {" 've", "'ve"},
                                                                             {" 're", "'re"}}};
  for (const auto& [from, to] : rules) text = replaced(text, from, to);
  return text;
}

// The bytes of the characters; a token with any other character stands for its own bytes.
Tokens from_byte_alphabet(const Tokens& tokens) {
  std::string bytes;
  for (const std::string& token : tokens) {
    std::string spelt;
    bool spells = true;
    for (size_t at = 0; at < token.size() && spells;) {
      const Character c = character_at(token, at);
      const int byte = byte_of(c.code);
      spells = byte >= 0;
      spelt += static_cast<char>(byte);
      at += static_cast<size_t>(c.length);
    }
    bytes += spells ? spelt : token;
  }
  return {valid_utf8(bytes)};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "<0x0A>", and "<0x+A>", which the package accepts too.
std::optional<char> named_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return {};
  const int high = token[3] == '+' ? 0 : hex_digit(token[3]), low = hex_digit(token[4]);
  if (high < 0 || low < 0) return {};
  return static_cast<char>(high * 16 + low);
}

Tokens from_named_bytes(const Tokens& tokens) {
  Tokens out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (valid_utf8(bytes) == bytes)
      out.push_back(bytes);
    else
      out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
    bytes.clear();
  };
  for (const std::string& token : tokens) {
    if (const auto byte = named_byte(token)) {
      bytes += *byte;
      continue;
    }
    flush();
    out.push_back(token);
  }
  flush();
  return out;
}

Tokens without_marks(Tokens tokens, char32_t mark, bool drop_first) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::u32string points = code_points(tokens[i]);
    if (i == 0 && drop_first)
      std::erase(points, mark);
    else
      std::replace(points.begin(), points.end(), mark, U' ');
    tokens[i] = to_utf8(points);
  }
  return tokens;
}

Tokens stripped(Tokens tokens, char32_t mark, uint64_t start, uint64_t stop) {
  for (std::string& token : tokens) {
    const std::u32string points = code_points(token);
    size_t begin = 0, end = points.size();
    while (begin < points.size() && begin < start && points[begin] == mark) ++begin;
    while (end > 0 && points.size() - end < stop && points[end - 1] == mark) --end;
    token = begin < end ? to_utf8(std::u32string_view(points).substr(begin, end - begin)) : "";
  }
  return tokens;
}

Tokens from_word_pieces(Tokens tokens, const std::string& prefix, bool clean_up) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) {
      if (tokens[i].starts_with(prefix))
        tokens[i].erase(0, prefix.size());
      else
        tokens[i].insert(tokens[i].begin(), ' ');
    }
    if (clean_up) tokens[i] = tidy(std::move(tokens[i]));
  }
  return tokens;
}

Tokens without_suffix(Tokens tokens, const std::string& suffix) {
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = replaced(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
  return tokens;
}

Tokens collapsed(Tokens tokens, const std::string& pad, const std::string& word, bool clean_up) {
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  Tokens out;
  for (const std::string& token : tokens) {
    std::string text = replaced(token, pad, "");
    if (clean_up) text = replaced(tidy(std::move(text)), word, " ");
    if (!text.empty()) out.push_back(std::move(text));
  }
  return out;
}

// A decoder whose options fit into a few lines.
class PlainDecoder : public Decoder {
 public:
  explicit PlainDecoder(std::function<Tokens(Tokens)> change) : change_(std::move(change)) {}
  Tokens apply(Tokens tokens) const override { return change_(std::move(tokens)); }

 private:
  std::function<Tokens(Tokens)> change_;
};

class ReplaceDecoder : public Decoder {
 public:
  explicit ReplaceDecoder(JsonPart& part)
      : pattern_(read_pattern(part)), content_(part.text("content")) {}
  Tokens apply(Tokens tokens) const override {
    for (std::string& token : tokens) {
      std::string out;
      for (const Match& match : pattern_.matches(token)) {
        out += match.matched ? content_ : token.substr(match.begin, match.end - match.begin);
        if (match.matched) Budget::spend_bytes(content_.size());
      }
      token = std::move(out);
    }
    return tokens;
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class DecoderSequence : public Decoder {
 public:
  DecoderSequence(JsonPart& part, int depth) {
    for (const simdjson::dom::element one : part.list("decoders"))
      all_.push_back(read_decoder({one, part.what()}, depth + 1));
  }
  Tokens apply(Tokens tokens) const override {
    for (const auto& one : all_) tokens = one->apply(std::move(tokens));
    return tokens;
  }

 private:
  std::vector<std::unique_ptr<Decoder>> all_;
};

std::unique_ptr<Decoder> plain(std::function<Tokens(Tokens)> change) {
  return std::make_unique<PlainDecoder>(std::move(change));
}

std::unique_ptr<Decoder> make(JsonPart& part, int depth) {
  const std::string type = part.text("type");
  if (type == "Sequence") return std::make_unique<DecoderSequence>(part, depth);
  if (type == "Replace") return std::make_unique<ReplaceDecoder>(part);
  if (type == "ByteFallback") return plain(from_named_bytes);
  if (type == "ByteLevel") {
    for (const auto option : {"add_prefix_space", "trim_offsets", "use_regex"})
      part.optional_flag(option);
    return plain(from_byte_alphabet);
  }
  if (type == "WordPiece") {
    return plain([prefix = part.text("prefix"), clean_up = part.flag("cleanup")](Tokens tokens) {
      return from_word_pieces(std::move(tokens), prefix, clean_up);
    });
  }
  if (type == "Metaspace") {
    const bool drop = read_prepend_scheme(part) != PrependScheme::never;
    part.optional_flag("split");
    part.pass_over("str_rep");
    return plain([mark = part.character("replacement"), drop](Tokens tokens) {
      return without_marks(std::move(tokens), mark, drop);
    });
  }
  if (type == "BPEDecoder") {
    return plain([suffix = part.text("suffix")](Tokens tokens) {
      return without_suffix(std::move(tokens), suffix);
    });
  }
  if (type == "Fuse") {
    return plain([](const Tokens& tokens) {
      return Tokens{std::accumulate(tokens.begin(), tokens.end(), std::string())};
    });
  }
  if (type == "Strip") {
    return plain([mark = part.character("content"), start = part.count("start"),
                  stop = part.count("stop")](Tokens tokens) {
      return stripped(std::move(tokens), mark, start, stop);
    });
  }
  if (type == "CTC") {
    return plain([pad = part.text("pad_token"), word = part.text("word_delimiter_token"),
                  clean_up = part.flag("cleanup")](Tokens tokens) {
      return collapsed(std::move(tokens), pad, word, clean_up);
    });
  }
  part.unknown(type,
               "Sequence, ByteLevel, WordPiece, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, "
               "Replace or CTC");
}

}  // namespace

std::unique_ptr<Decoder> read_decoder(JsonPart part, int depth) {
  if (depth > deepest_component)
    fail("{}: sequences are nested deeper than {}, expected fewer; check the file", part.what(),
         deepest_component);
  auto decoder = make(part, depth);
  part.finish();
  return decoder;
}

}  // namespace headwater
