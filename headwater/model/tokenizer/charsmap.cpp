#include "headwater/model/tokenizer/charsmap.h"

#include <cstring>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/base64.h"
#include "headwater/model/tokenizer/budget.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/graphemes.h"

namespace headwater {
namespace {

bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) == 1; }
uint32_t label(uint32_t unit) { return unit & (1u << 31 | 0xFF); }
size_t offset(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & 1u << 9) >> 6); }

// New characters replace the old ones one by one; the excess is added or removed.
void put(std::vector<Change>& changes, std::string_view before, std::string_view after) {
  int64_t old_count = 0, new_count = 0;
  for (size_t at = 0; at < before.size(); at += static_cast<size_t>(length_of(before[at])))
    ++old_count;
  for (size_t at = 0; at < after.size();) {
    const Character c = character_at(after, at);
    changes.push_back({c.code, new_count++ < old_count ? 0 : 1});
    at += static_cast<size_t>(c.length);
  }
  if (new_count < old_count && !changes.empty()) changes.back().change -= old_count - new_count;
}

}  // namespace

Charsmap::Charsmap(std::string_view base64, const std::string& what) : what_(what) {
  const auto bytes = decode_base64(base64);
  if (!bytes)
    fail("{}: is not base64, expected a charsmap as sentencepiece writes it; check the file", what);
  uint32_t size = 0;
  if (bytes->size() < sizeof size)
    fail("{}: is {} bytes long, expected at least {}; check the file", what, bytes->size(),
         sizeof size);
  std::memcpy(&size, bytes->data(), sizeof size);
  size -= size % sizeof(uint32_t);
  if (size > bytes->size() - sizeof size)
    fail("{}: has a trie of {} bytes, expected at most the {} that are left; check the file", what,
         size, bytes->size() - sizeof size);
  units_.resize(size / sizeof(uint32_t));
  if (size > 0) std::memcpy(units_.data(), bytes->data() + sizeof size, size);
  texts_ = bytes->substr(sizeof size + size);
  check_utf8(texts_, what);
}

uint32_t Charsmap::unit(size_t at) const {
  if (at >= units_.size())
    fail("{}: points to unit {} of its trie, expected one below {}; check the file", what_, at,
         units_.size());
  return units_[at];
}

std::optional<std::string_view> Charsmap::find(std::string_view piece) const {
  size_t at = offset(unit(0));
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return {};
    at ^= byte;
    const uint32_t here = unit(at);
    if (label(here) != byte) return {};
    at ^= offset(here);
    if (!has_leaf(here)) continue;
    const size_t begin = unit(at) & ~(1u << 31);
    if (begin > texts_.size() ||
        (begin < texts_.size() && (static_cast<unsigned char>(texts_[begin]) & 0xC0) == 0x80))
      fail("{}: points to byte {} of its texts, expected the start of a text; check the file",
           what_, begin);
    return std::string_view(texts_).substr(begin, texts_.find('\0', begin) - begin);
  }
  return {};
}

void Charsmap::apply(AlignedText& text) const {
  const std::string& old = text.text();
  std::vector<Change> changes;
  changes.reserve(old.size());
  bool changed = false;
  const auto replace = [&](std::string_view piece) {
    const auto other = find(piece);
    if (!other) return false;
    Budget::spend_bytes(other->size());
    put(changes, piece, *other);
    changed = true;
    return true;
  };
  constexpr size_t longest = 5;
  for (size_t begin = 0; begin < old.size();) {
    const size_t end = grapheme_end(old, begin);
    const std::string_view grapheme = std::string_view(old).substr(begin, end - begin);
    begin = end;
    if (grapheme.size() <= longest && replace(grapheme)) continue;
    for (size_t at = 0; at < grapheme.size();) {
      const Character c = character_at(grapheme, at);
      const auto length = static_cast<size_t>(c.length);
      if (!replace(grapheme.substr(at, length))) changes.push_back({c.code, 0});
      at += length;
    }
  }
  if (changed) text.transform(changes);
}

}  // namespace headwater
