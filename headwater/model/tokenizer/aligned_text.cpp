#include "headwater/model/tokenizer/aligned_text.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/budget.h"
#include "headwater/model/tokenizer/characters.h"

namespace headwater {

AlignedText::AlignedText(std::string_view text) : text_(text), original_{0, text.size()} {
  places_.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto length = static_cast<uint32_t>(length_of(text[at]));
    const auto begin = static_cast<uint32_t>(at);
    places_.insert(places_.end(), length, {begin, begin + length});
    at += length;
  }
}

ByteSpan AlignedText::original_of(size_t begin, size_t end) const {
  if (begin == end) return {original_.begin + begin, original_.begin + end};
  if (begin > end || end > places_.size()) return {begin, end};
  return {places_[begin].begin, places_[end - 1].end};
}

AlignedText AlignedText::slice(size_t begin, size_t end) const {
  AlignedText part;
  part.text_ = text_.substr(begin, end - begin);
  part.places_.assign(places_.begin() + static_cast<ptrdiff_t>(begin),
                      places_.begin() + static_cast<ptrdiff_t>(end));
  part.original_ = original_of(begin, end);
  return part;
}

std::vector<Change> AlignedText::characters() const {
  std::vector<Change> out;
  out.reserve(text_.size());
  for (size_t at = 0; at < text_.size();) {
    const Character c = character_at(text_, at);
    out.push_back({c.code, 0});
    at += static_cast<size_t>(c.length);
  }
  return out;
}

// Leading characters that come from no original text stay outside a transform, which puts the whole
// new text after them. This is odd, but the package does it, and tokens must agree.
void AlignedText::transform(std::span<const Change> changes, size_t removed) {
  if (original_.begin == original_.end) return transform_range(0, 0, changes, removed);
  if (places_.empty()) return;
  const auto first = std::find_if(places_.begin(), places_.end(),
                                  [](const Place& place) { return place.begin != place.end; });
  transform_range(static_cast<size_t>(first - places_.begin()), text_.size(), changes, removed);
}

void AlignedText::transform_range(size_t begin, size_t end, std::span<const Change> changes,
                                  size_t removed) {
  size_t at = begin;
  const auto skip = [&] {
    if (at < end) at += static_cast<size_t>(length_of(text_[at]));
  };
  for (; removed > 0 && at < end; --removed) skip();
  std::string text;
  std::vector<Place> places;
  text.reserve(end - begin);
  places.reserve(end - begin);
  for (const Change& one : changes) {
    Place place{static_cast<uint32_t>(original_.begin), static_cast<uint32_t>(original_.begin)};
    const size_t from = one.change > 0 ? at - 1 : at;
    if (one.change <= 0 || at > 0) {
      if (from >= places_.size())
        fail(
            "the normalizer takes more characters than the text has, expected a tokenizer.json "
            "whose normalizers fit together; check its \"normalizer\"");
      place = places_[from];
    }
    if (one.change <= 0) skip();
    for (int64_t gone = one.change; gone < 0 && at < end; ++gone) skip();
    const size_t before = text.size();
    append_utf8(text, one.code);
    places.insert(places.end(), text.size() - before, place);
  }
  Budget::spend_bytes(text.size());
  text_.replace(begin, end - begin, text);
  const auto old = places_.begin() + static_cast<ptrdiff_t>(begin);
  if (begin == 0 && end == places_.size()) {
    places_ = std::move(places);
  } else {
    const auto place = places_.erase(old, old + static_cast<ptrdiff_t>(end - begin));
    places_.insert(place, places.begin(), places.end());
  }
}

void AlignedText::prepend(std::string_view prefix) {
  if (text_.empty()) return;
  std::vector<Change> changes;
  for (size_t at = 0; at < prefix.size();) {
    const Character c = character_at(prefix, at);
    changes.push_back({c.code, at == 0 ? 0 : 1});
    at += static_cast<size_t>(c.length);
  }
  const Character first = character_at(text_, 0);
  changes.push_back({first.code, 1});
  transform_range(0, static_cast<size_t>(first.length), changes, 0);
}

void AlignedText::replace(std::span<const Match> matches, std::string_view content) {
  std::string text;
  std::vector<Place> places;
  for (const Match& match : matches) {
    if (!match.matched) {
      text.append(text_, match.begin, match.end - match.begin);
      places.insert(places.end(), places_.begin() + static_cast<ptrdiff_t>(match.begin),
                    places_.begin() + static_cast<ptrdiff_t>(match.end));
      continue;
    }
    const auto nowhere = static_cast<uint32_t>(original_.begin);
    const Place place = match.end > 0 ? places_[match.end - 1] : Place{nowhere, nowhere};
    Budget::spend_bytes(content.size());
    text += content;
    places.insert(places.end(), content.size(), place);
  }
  text_ = std::move(text);
  places_ = std::move(places);
}

}  // namespace headwater
