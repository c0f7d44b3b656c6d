#include "headwater/model/tokenizer/added_tokens.h"

#include <limits>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/characters.h"

namespace headwater {
namespace {

bool word_ends_at(std::string_view text, size_t at) {
  return at > 0 && is_word(character_at(text, character_before(text, at)).code);
}

bool word_begins_at(std::string_view text, size_t at) {
  return at < text.size() && is_word(character_at(text, at).code);
}

// The start of the white space before `at`, but not before `first`.
size_t space_before(std::string_view text, size_t at, size_t first) {
  while (at > first) {
    const size_t before = character_before(text, at);
    if (!is_whitespace(character_at(text, before).code)) break;
    at = before;
  }
  return at;
}

size_t space_after(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Character c = character_at(text, at);
    if (!is_whitespace(c.code)) break;
    at += static_cast<size_t>(c.length);
  }
  return at;
}

}  // namespace

AddedTokens::AddedTokens(const std::optional<simdjson::dom::array>& list,
                         const std::vector<AddedToken>& more, const WordModel& model,
                         const Normalizer* normalizer, const std::string& what) {
  int next = model.size();
  const auto take = [&](Token token) {
    if (token.content.empty()) return;
    token.normalised = token.content;
    if (token.in_normalised && normalizer != nullptr) {
      AlignedText text(token.content);
      normalizer->apply(text);
      token.normalised = text.text();
    }
    add(std::move(token), model, next);
  };
  const auto read = [&](const simdjson::dom::element& one) {
    JsonPart part(one, what);
    read_id(part.element("id"), what);
    Token token{part.text("content"),     {},
                part.flag("single_word"), part.flag("lstrip"),
                part.flag("rstrip"),      part.flag("normalized"),
                part.flag("special"),     0};
    part.finish();
    take(std::move(token));
  };
  if (list)
    for (const simdjson::dom::element one : *list) read(one);
  for (const AddedToken& one : more)
    if (!contents_.id_of(one.content))
      take({one.content,
            {},
            one.single_word,
            one.lstrip,
            one.rstrip,
            one.normalised,
            one.special,
            0});
  contents_.finish();
  special_.finish();
  make_indexes();
}

void AddedTokens::add(Token token, const WordModel& model, int& next) {
  const auto here = contents_.id_of(token.content);
  const auto known = here ? here : model.id_of(token.content);
  if (!known && next == std::numeric_limits<int>::max())
    fail("\"added_tokens\": '{}' would get an id above 2^31, expected fewer; check the file",
         token.content);
  token.id = known ? *known : next++;
  const auto old = by_id_.find(token.id);
  if (here && old != by_id_.end() && tokens_[old->second] == token) return;
  contents_.add(token.content, token.id);
  if (token.special) special_.add(token.content, token.id);
  by_id_[token.id] = tokens_.size();
  tokens_.push_back(std::move(token));
}

void AddedTokens::make_indexes() {
  std::vector<std::pair<std::string_view, uint32_t>> raw, normalised;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (by_id_[token.id] != i) continue;  // a later token took its id
    auto& list = token.in_normalised ? normalised : raw;
    list.emplace_back(token.normalised, static_cast<uint32_t>(i));
  }
  raw_ = PrefixIndex(std::move(raw));
  normalised_ = PrefixIndex(std::move(normalised));
}

std::optional<std::string_view> AddedTokens::token_of(int id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return {};
  return tokens_[found->second].normalised;
}

int AddedTokens::beyond(const WordModel& model) const {
  Vocabulary seen;
  for (const Token& token : tokens_)
    if (!model.id_of(token.content)) seen.add(token.content, token.id);
  return static_cast<int>(seen.size());
}

void AddedTokens::split_at(const AlignedText& text, const PrefixIndex& index, Splits& out) const {
  const std::string& all = text.text();
  if (all.empty()) return;
  if (index.empty()) {
    out.push_back({text, {}});
    return;
  }
  const auto push = [&](size_t begin, size_t end, std::optional<int> id) {
    if (begin >= end) return;
    Split split{text.slice(begin, end), {}};
    if (id) split.token = PieceToken{*id, split.text.text(), 0, end - begin};
    out.push_back(std::move(split));
  };
  size_t covered = 0;
  for (size_t at = 0; at < all.size();) {
    size_t length = 0;
    uint32_t place = 0;
    index.walk(all, at, [&](size_t bytes, uint32_t value) {
      length = bytes;
      place = value;
    });
    if (length == 0) {
      ++at;
      continue;
    }
    const Token& token = tokens_[place];
    size_t begin = at, end = at + length;
    at = end;
    if (split_special_ && is_special(token.content)) continue;
    if (token.single_word && (word_ends_at(all, begin) || word_begins_at(all, end))) continue;
    if (token.left) begin = std::max(space_before(all, begin, covered), covered);
    if (token.right) end = space_after(all, end);
    if (covered < begin) push(covered, begin, {});
    push(begin, end, token.id);
    covered = end;
  }
  push(covered, all.size(), {});
}

Splits AddedTokens::split(std::string_view text, const Normalizer* normalizer) const {
  Splits splits;
  split_at(AlignedText(text), raw_, splits);
  split_each(splits, [&](AlignedText& part, Splits& out) {
    if (normalizer != nullptr) normalizer->apply(part);
    split_at(part, normalised_, out);
  });
  return splits;
}

}  // namespace headwater
