#include "headwater/model/tokenizer/pre_tokenizer.h"

#include <functional>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/byte_alphabet.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/normalizer.h"
#include "headwater/model/tokenizer/pattern.h"

namespace headwater {
namespace {

template <class Wanted>
void cut_at_characters(Splits& splits, Behaviour behaviour, Wanted wanted) {
  split_each(splits, [&](const AlignedText& text, Splits& out) {
    cut(text, match_characters(text.text(), wanted), behaviour, out);
  });
}

// Runs of word characters and runs of other characters, without the white space between.
void cut_words(Splits& splits) {
  enum class Kind { space, word, other };
  const auto kind_of = [](char32_t c) {
    return is_whitespace(c) ? Kind::space : is_word(c) ? Kind::word : Kind::other;
  };
  split_each(splits, [&](const AlignedText& text, Splits& out) {
    const std::string& all = text.text();
    for (size_t at = 0; at < all.size();) {
      const size_t begin = at;
      const Kind kind = kind_of(character_at(all, at).code);
      while (at < all.size()) {
        const Character c = character_at(all, at);
        if (kind_of(c.code) != kind) break;
        at += static_cast<size_t>(c.length);
      }
      if (kind != Kind::space) out.push_back({text.slice(begin, at), {}});
    }
  });
}

void cut_lengths(Splits& splits, uint64_t length) {
  split_each(splits, [&](const AlignedText& text, Splits& out) {
    const std::string& all = text.text();
    for (size_t at = 0; at < all.size();) {
      const size_t begin = at;
      for (uint64_t i = 0; i < length && at < all.size(); ++i)
        at += static_cast<size_t>(length_of(all[at]));
      out.push_back({text.slice(begin, at), {}});
    }
  });
}

// A pre-tokenizer whose options fit into a few lines.
class PlainPreTokenizer : public PreTokenizer {
 public:
  explicit PlainPreTokenizer(std::function<void(Splits&)> change) : change_(std::move(change)) {}
  void apply(Splits& splits) const override { change_(splits); }

 private:
  std::function<void(Splits&)> change_;
};

std::unique_ptr<PreTokenizer> plain(std::function<void(Splits&)> change) {
  return std::make_unique<PlainPreTokenizer>(std::move(change));
}

class ByteLevelPreTokenizer : public PreTokenizer {
 public:
  explicit ByteLevelPreTokenizer(JsonPart& part)
      : add_prefix_space_(part.flag("add_prefix_space")) {
    part.flag("trim_offsets");  // only the post-processor uses it
    if (part.flag_or("use_regex", true)) words_.emplace(gpt2, part.what());
  }
  void apply(Splits& splits) const override {
    split_each(splits, [&](AlignedText& text, Splits& out) {
      if (add_prefix_space_ && !text.text().starts_with(' ')) text.prepend(" ");
      if (words_)
        cut(text, words_->matches(text.text()), Behaviour::isolated, out);
      else
        out.push_back({std::move(text), {}});
    });
    for (Split& split : splits)
      if (!split.token) spell_bytes(split.text);
  }

 private:
  static constexpr const char* gpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

  bool add_prefix_space_;
  std::optional<Regex> words_;
};

class Metaspace : public PreTokenizer {
 public:
  explicit Metaspace(JsonPart& part)
      : character_(part.character("replacement")),
        scheme_(read_prepend_scheme(part)),
        split_(part.flag_or("split", true)) {
    part.pass_over("str_rep");
    append_utf8(replacement_, character_);
  }
  void apply(Splits& splits) const override {
    split_each(splits, [&](AlignedText& text, Splits& out) {
      text.replace(match_characters(text.text(), [](char32_t c) { return c == ' '; }),
                   replacement_);
      const bool wanted = scheme_ == PrependScheme::always ||
                          (scheme_ == PrependScheme::first && text.original().begin == 0);
      if (wanted && !text.text().starts_with(replacement_)) text.prepend(replacement_);
      if (split_)
        cut(text, match_characters(text.text(), [&](char32_t c) { return c == character_; }),
            Behaviour::merged_with_next, out);
      else
        out.push_back({std::move(text), {}});
    });
  }

 private:
  char32_t character_;
  PrependScheme scheme_;
  bool split_;
  std::string replacement_;
};

class SplitAt : public PreTokenizer {
 public:
  explicit SplitAt(JsonPart& part)
      : pattern_(read_pattern(part)),
        behaviour_(read_behaviour(part.text("behavior"), part.what())),
        invert_(part.flag("invert")) {}
  void apply(Splits& splits) const override {
    split_each(splits, [&](const AlignedText& text, Splits& out) {
      auto matches = pattern_.matches(text.text());
      if (invert_)
        for (Match& match : matches) match.matched = !match.matched;
      cut(text, std::move(matches), behaviour_, out);
    });
  }

 private:
  Pattern pattern_;
  Behaviour behaviour_;
  bool invert_;
};

class PreTokenizerSequence : public PreTokenizer {
 public:
  PreTokenizerSequence(JsonPart& part, int depth) {
    for (const simdjson::dom::element one : part.list("pretokenizers"))
      all_.push_back(read_pre_tokenizer({one, part.what()}, depth + 1));
  }
  void apply(Splits& splits) const override {
    for (const auto& one : all_) one->apply(splits);
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> all_;
};

std::unique_ptr<PreTokenizer> make_simple(JsonPart& part, const std::string& type) {
  if (type == "BertPreTokenizer")
    return plain([](Splits& splits) {
      cut_at_characters(splits, Behaviour::removed, is_whitespace);
      cut_at_characters(splits, Behaviour::isolated, is_punctuation);
    });
  if (type == "Whitespace") return plain(cut_words);
  if (type == "WhitespaceSplit")
    return plain(
        [](Splits& splits) { cut_at_characters(splits, Behaviour::removed, is_whitespace); });
  if (type == "CharDelimiterSplit")
    return plain([delimiter = part.character("delimiter")](Splits& splits) {
      cut_at_characters(splits, Behaviour::removed, [=](char32_t c) { return c == delimiter; });
    });
  if (type == "Punctuation") {
    const auto behaviour = read_behaviour(part.text_or("behavior", "Isolated"), part.what());
    return plain(
        [behaviour](Splits& splits) { cut_at_characters(splits, behaviour, is_punctuation); });
  }
  if (type == "Digits") {
    const auto behaviour =
        part.flag("individual_digits") ? Behaviour::isolated : Behaviour::contiguous;
    return plain([behaviour](Splits& splits) { cut_at_characters(splits, behaviour, is_numeric); });
  }
  if (type == "FixedLength") {
    const uint64_t length = part.has("length") ? part.count("length") : 5;
    part.pass_over("length");
    if (length == 0) fail("{}: \"length\" is 0, expected at least 1; check the file", part.what());
    return plain([length](Splits& splits) { cut_lengths(splits, length); });
  }
  part.unknown(type,
               "Sequence, BertPreTokenizer, Whitespace, WhitespaceSplit, ByteLevel, Metaspace, "
               "Split, Punctuation, Digits, CharDelimiterSplit or FixedLength");
}

}  // namespace

PrependScheme read_prepend_scheme(JsonPart& part) {
  const std::string name = part.text_or("prepend_scheme", "always");
  const auto add_prefix_space = part.optional_flag("add_prefix_space");
  if (name != "always" && name != "first" && name != "never")
    fail("{}: \"prepend_scheme\" is '{}', expected always, first or never; check the file",
         part.what(), name);
  if (add_prefix_space == false && name != "never") {
    if (part.has("prepend_scheme"))
      fail(
          "{}: \"add_prefix_space\" is false but \"prepend_scheme\" is '{}', expected never; check "
          "the file",
          part.what(), name);
    return PrependScheme::never;
  }
  return name == "always"  ? PrependScheme::always
         : name == "first" ? PrependScheme::first
                           : PrependScheme::never;
}

std::unique_ptr<PreTokenizer> read_pre_tokenizer(JsonPart part, int depth) {
  if (depth > deepest_component)
    fail("{}: sequences are nested deeper than {}, expected fewer; check the file", part.what(),
         deepest_component);
  const std::string type = part.text("type");
  std::unique_ptr<PreTokenizer> made;
  if (type == "Sequence")
    made = std::make_unique<PreTokenizerSequence>(part, depth);
  else if (type == "ByteLevel")
    made = std::make_unique<ByteLevelPreTokenizer>(part);
  else if (type == "Metaspace")
    made = std::make_unique<Metaspace>(part);
  else if (type == "Split")
    made = std::make_unique<SplitAt>(part);
  else
    made = make_simple(part, type);
  part.finish();
  return made;
}

}  // namespace headwater
