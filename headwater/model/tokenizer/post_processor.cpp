#include "headwater/model/tokenizer/post_processor.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/byte_alphabet.h"
#include "headwater/model/tokenizer/characters.h"

namespace headwater {
namespace {

struct Named {
  std::string token;
  int id;
};

// ["[SEP]", 102]
Named read_named(JsonPart& part, std::string_view key) {
  const auto pair = part.list(key);
  std::string_view token;
  if (pair.size() != 2 || pair.at(0).get(token))
    fail("{}: \"{}\" is not [\"token\", id], expected that; check the file", part.what(), key);
  return {std::string(token), read_id(pair.at(1).value(), part.what())};
}

bool is_space(char32_t c) { return c == byte_alphabet_space || is_whitespace(c); }

size_t leading_spaces(std::string_view token) {
  size_t count = 0;
  for (size_t at = 0; at < token.size(); ++count) {
    const Character c = character_at(token, at);
    if (!is_space(c.code)) break;
    at += static_cast<size_t>(c.length);
  }
  return count;
}

size_t trailing_spaces(std::string_view token) {
  size_t count = 0;
  for (size_t end = token.size(); end > 0; ++count) {
    const size_t before = character_before(token, end);
    if (!is_space(character_at(token, before).code)) break;
    end = before;
  }
  return count;
}

size_t forward(std::string_view text, size_t at, size_t characters) {
  for (; characters > 0 && at < text.size(); --characters)
    at += static_cast<size_t>(length_of(text[at]));
  return at;
}

size_t back(std::string_view text, size_t at, size_t characters) {
  at = std::min(at, text.size());
  for (; characters > 0 && at > 0; --characters) at = character_before(text, at);
  return at;
}

bool has_before(std::string_view text, size_t end, size_t characters) {
  size_t at = std::min(end, text.size());
  for (; characters > 0 && at > 0; --characters) at = character_before(text, at);
  return characters == 0;
}

// Removes spaces that belong to a token from its offsets. Counts characters of the text.
void trim(Encoding& part, const Texts& texts, bool add_prefix_space) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (part.sequences[i] < 0) continue;
    const std::string_view text = texts[static_cast<size_t>(part.sequences[i])];
    ByteSpan& offset = part.offsets[i];
    size_t leading = leading_spaces(part.tokens[i]);
    const size_t trailing = trailing_spaces(part.tokens[i]);
    // The space that add_prefix_space added is not in the text.
    if ((i == 0 || offset.begin == 0) && add_prefix_space && leading == 1) leading = 0;
    if (leading > 0) offset.begin = std::min(forward(text, offset.begin, leading), offset.end);
    if (trailing > 0 && has_before(text, offset.end, trailing))
      offset.end = std::max(back(text, offset.end, trailing), offset.begin);
  }
}

void put_in(Encoding& part, size_t at, const Named& one, int type) {
  const auto place = static_cast<ptrdiff_t>(at);
  part.ids.insert(part.ids.begin() + place, one.id);
  part.tokens.insert(part.tokens.begin() + place, one.token);
  part.offsets.insert(part.offsets.begin() + place, ByteSpan{});
  part.types.insert(part.types.begin() + place, type);
  part.sequences.insert(part.sequences.begin() + place, -1);
}

class ByteLevelPostProcessor : public PostProcessor {
 public:
  explicit ByteLevelPostProcessor(JsonPart& part)
      : add_prefix_space_(part.flag("add_prefix_space")), trim_(part.flag("trim_offsets")) {
    part.optional_flag("use_regex");  // only the pre-tokenizer uses it
  }
  size_t added(bool) const override { return 0; }
  void apply(std::vector<Encoding>& parts, const Texts& texts, bool) const override {
    if (!trim_) return;
    for (Encoding& part : parts) trim(part, texts, add_prefix_space_);
  }

 private:
  bool add_prefix_space_, trim_;
};

class BertPostProcessor : public PostProcessor {
 public:
  explicit BertPostProcessor(JsonPart& part)
      : sep_(read_named(part, "sep")), cls_(read_named(part, "cls")) {}
  size_t added(bool pair) const override { return pair ? 3 : 2; }
  void apply(std::vector<Encoding>& parts, const Texts&, bool special) const override {
    if (!special) return;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i == 0) put_in(parts[i], 0, cls_, 0);
      put_in(parts[i], parts[i].size(), sep_, i == 0 ? 0 : 1);
    }
  }

 private:
  Named sep_, cls_;
};

class Roberta : public PostProcessor {
 public:
  explicit Roberta(JsonPart& part)
      : sep_(read_named(part, "sep")),
        cls_(read_named(part, "cls")),
        trim_(part.flag("trim_offsets")),
        add_prefix_space_(part.flag("add_prefix_space")) {}
  size_t added(bool pair) const override { return pair ? 4 : 2; }
  void apply(std::vector<Encoding>& parts, const Texts& texts, bool special) const override {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (trim_) trim(parts[i], texts, add_prefix_space_);
      std::fill(parts[i].types.begin(), parts[i].types.end(), 0);
      if (!special) continue;
      put_in(parts[i], 0, i == 0 ? cls_ : sep_, 0);
      put_in(parts[i], parts[i].size(), sep_, 0);
    }
  }

 private:
  Named sep_, cls_;
  bool trim_, add_prefix_space_;
};

class PostProcessorSequence : public PostProcessor {
 public:
  PostProcessorSequence(JsonPart& part, int depth) {
    for (const simdjson::dom::element one : part.list("processors"))
      all_.push_back(read_post_processor({one, part.what()}, depth + 1));
  }
  size_t added(bool pair) const override {
    size_t sum = 0;
    for (const auto& one : all_) sum += one->added(pair);
    return sum;
  }
  void apply(std::vector<Encoding>& parts, const Texts& texts, bool special) const override {
    for (const auto& one : all_) one->apply(parts, texts, special);
  }

 private:
  std::vector<std::unique_ptr<PostProcessor>> all_;
};

}  // namespace

std::unique_ptr<PostProcessor> read_post_processor(JsonPart part, int depth) {
  if (depth > deepest_component)
    fail("{}: sequences are nested deeper than {}, expected fewer; check the file", part.what(),
         deepest_component);
  const std::string type = part.text("type");
  std::unique_ptr<PostProcessor> made;
  if (type == "TemplateProcessing")
    made = read_template(part);
  else if (type == "BertProcessing")
    made = std::make_unique<BertPostProcessor>(part);
  else if (type == "RobertaProcessing")
    made = std::make_unique<Roberta>(part);
  else if (type == "ByteLevel")
    made = std::make_unique<ByteLevelPostProcessor>(part);
  else if (type == "Sequence")
    made = std::make_unique<PostProcessorSequence>(part, depth);
  else
    part.unknown(type,
                 "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or Sequence");
  part.finish();
  return made;
}

}  // namespace headwater
