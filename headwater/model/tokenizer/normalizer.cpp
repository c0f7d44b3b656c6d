#include "headwater/model/tokenizer/normalizer.h"

#include <functional>
#include <vector>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/byte_alphabet.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/charsmap.h"
#include "headwater/model/tokenizer/normal_form.h"
#include "headwater/model/tokenizer/pattern.h"

namespace headwater {
namespace {

void to_normal_form(AlignedText& text, NormalForm form) {
  if (is_ascii(text.text()) && !text.empty() &&
      text.original_of(0, 1).begin != text.original_of(0, 1).end)
    return;
  text.transform(normalise(text.text(), form));
}

void to_lowercase(AlignedText& text) {
  std::vector<Change> changes;
  changes.reserve(text.text().size());
  for (size_t at = 0; at < text.text().size();) {
    const Character c = character_at(text.text(), at);
    at += static_cast<size_t>(c.length);
    if (c.code == 0x130) {
      changes.push_back({'i', 0});
      changes.push_back({0x307, 1});
    } else {
      changes.push_back({lowercase(c.code), 0});
    }
  }
  text.transform(changes);
}

void space_out_chinese(AlignedText& text) {
  std::vector<Change> changes;
  changes.reserve(text.text().size());
  for (size_t at = 0; at < text.text().size();) {
    const Character c = character_at(text.text(), at);
    at += static_cast<size_t>(c.length);
    if (!is_chinese(c.code)) {
      changes.push_back({c.code, 0});
      continue;
    }
    changes.push_back({' ', 0});
    changes.push_back({c.code, 1});
    changes.push_back({' ', 1});
  }
  text.transform(changes);
}

// Strips both sides in one transform: the rest keeps its place either way.
void strip(AlignedText& text, bool left, bool right) {
  std::vector<Change> all;
  for (size_t at = 0; at < text.text().size();) {
    const Character c = character_at(text.text(), at);
    all.push_back({c.code, 0});
    at += static_cast<size_t>(c.length);
  }
  size_t begin = 0, end = all.size();
  while (left && begin < all.size() && is_whitespace(all[begin].code)) ++begin;
  while (right && end > 0 && is_whitespace(all[end - 1].code)) --end;
  if (begin == 0 && end == all.size()) return;
  end = std::max(begin, end);
  text.transform(std::span(all).subspan(begin, end - begin), begin);
}

bool nmt_removes(char32_t c) {
  return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F ||
         c == 0x9F;
}

char32_t nmt_space(char32_t c) {
  const bool space = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                     (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                     c == 0xFEFF || c == 0xFFFD;
  return space ? ' ' : c;
}

// A normalizer without options, or whose options fit into a few lines.
class PlainNormalizer : public Normalizer {
 public:
  explicit PlainNormalizer(std::function<void(AlignedText&)> change) : change_(std::move(change)) {}
  void apply(AlignedText& text) const override { change_(text); }

 private:
  std::function<void(AlignedText&)> change_;
};

std::unique_ptr<Normalizer> plain(std::function<void(AlignedText&)> change) {
  return std::make_unique<PlainNormalizer>(std::move(change));
}

class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(JsonPart& part)
      : clean_(part.flag("clean_text")),
        chinese_(part.flag("handle_chinese_chars")),
        lowercase_(part.flag("lowercase")) {
    strip_accents_ = part.optional_flag("strip_accents").value_or(lowercase_);
  }

  void apply(AlignedText& text) const override {
    if (clean_) {
      text.filter([](char32_t c) { return !is_cleaned(c); });
      text.map([](char32_t c) { return is_whitespace(c) ? U' ' : c; });
    }
    if (chinese_) space_out_chinese(text);
    if (strip_accents_) {
      to_normal_form(text, NormalForm::nfd);
      text.filter([](char32_t c) { return !is_nonspacing_mark(c); });
    }
    if (lowercase_) to_lowercase(text);
  }

 private:
  bool clean_, chinese_, lowercase_, strip_accents_;
};

class ReplaceNormalizer : public Normalizer {
 public:
  explicit ReplaceNormalizer(JsonPart& part)
      : pattern_(read_pattern(part)), content_(part.text("content")) {}
  void apply(AlignedText& text) const override {
    text.replace(pattern_.matches(text.text()), content_);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Precompiled : public Normalizer {
 public:
  explicit Precompiled(JsonPart& part)
      : map_(part.text("precompiled_charsmap"), part.what() + ": \"precompiled_charsmap\"") {}
  void apply(AlignedText& text) const override { map_.apply(text); }

 private:
  Charsmap map_;
};

class NormalizerSequence : public Normalizer {
 public:
  NormalizerSequence(JsonPart& part, int depth) {
    for (const simdjson::dom::element one : part.list("normalizers"))
      all_.push_back(read_normalizer({one, part.what()}, depth + 1));
  }
  void apply(AlignedText& text) const override {
    for (const auto& one : all_) one->apply(text);
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> all_;
};

std::unique_ptr<Normalizer> make_normalizer(JsonPart& part, int depth) {
  const std::string type = part.text("type");
  const auto form = [](NormalForm wanted) {
    return plain([wanted](AlignedText& text) { to_normal_form(text, wanted); });
  };
  if (type == "Sequence") return std::make_unique<NormalizerSequence>(part, depth);
  if (type == "BertNormalizer") return std::make_unique<BertNormalizer>(part);
  if (type == "NFC") return form(NormalForm::nfc);
  if (type == "NFD") return form(NormalForm::nfd);
  if (type == "NFKC") return form(NormalForm::nfkc);
  if (type == "NFKD") return form(NormalForm::nfkd);
  if (type == "Lowercase") return plain(to_lowercase);
  if (type == "StripAccents")
    return plain(
        [](AlignedText& text) { text.filter([](char32_t c) { return !is_combining_mark(c); }); });
  if (type == "Strip") {
    const bool left = part.flag("strip_left"), right = part.flag("strip_right");
    return plain([=](AlignedText& text) { strip(text, left, right); });
  }
  if (type == "Replace") return std::make_unique<ReplaceNormalizer>(part);
  if (type == "Prepend") {
    return plain([prefix = part.text("prepend")](AlignedText& text) { text.prepend(prefix); });
  }
  if (type == "Nmt")
    return plain([](AlignedText& text) {
      text.filter([](char32_t c) { return !nmt_removes(c); });
      text.map(nmt_space);
    });
  if (type == "Precompiled") return std::make_unique<Precompiled>(part);
  if (type == "ByteLevel")
    return plain([](AlignedText& text) {
      if (!text.empty()) spell_bytes(text);
    });
  part.unknown(type,
               "Sequence, BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, "
               "Replace, Prepend, Nmt, Precompiled or ByteLevel");
}

}  // namespace

Pattern read_pattern(JsonPart& part) {
  JsonPart pattern = part.part("pattern");
  const bool is_regex = pattern.has("Regex");
  std::string text = pattern.text(is_regex ? "Regex" : "String");
  pattern.finish();
  return is_regex ? Pattern::regex(text, pattern.what())
                  : Pattern::literal(std::move(text), pattern.what());
}

std::unique_ptr<Normalizer> read_normalizer(JsonPart part, int depth) {
  if (depth > deepest_component)
    fail("{}: sequences are nested deeper than {}, expected fewer; check the file", part.what(),
         deepest_component);
  auto normalizer = make_normalizer(part, depth);
  part.finish();
  return normalizer;
}

}  // namespace headwater
