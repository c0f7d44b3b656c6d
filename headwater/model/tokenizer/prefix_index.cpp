#include "headwater/model/tokenizer/prefix_index.h"

#include <algorithm>

namespace headwater {

PrefixIndex::PrefixIndex(std::vector<std::pair<std::string_view, uint32_t>> texts) {
  std::stable_sort(texts.begin(), texts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].first.empty()) continue;
    if (i + 1 < texts.size() && texts[i + 1].first == texts[i].first) continue;
    bytes_ += texts[i].first;
    begins_.push_back(bytes_.size());
    values_.push_back(texts[i].second);
  }
  if (values_.empty()) return;
  first_two_.assign(256 * 256, {0, 0});
  const auto put = [](Range& range, uint32_t i) {
    if (range.begin == range.end) range.begin = i;
    range.end = i + 1;
  };
  for (uint32_t i = 0; i < values_.size(); ++i) {
    const auto text = entry(i);
    const size_t first = static_cast<unsigned char>(text[0]);
    put(first_[first], i);
    if (text.size() > 1) put(first_two_[first * 256 + static_cast<unsigned char>(text[1])], i);
  }
}

// Every text in the range must be longer than `depth`.
PrefixIndex::Range PrefixIndex::narrow(Range range, size_t depth, unsigned char byte) const {
  const auto at_depth = [&](uint32_t i) {
    return static_cast<unsigned char>(bytes_[begins_[i] + depth]);
  };
  const auto border = [&](uint32_t begin, unsigned limit) {
    uint32_t end = range.end;
    while (begin < end) {
      const uint32_t middle = begin + (end - begin) / 2;
      if (at_depth(middle) < limit)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  };
  const uint32_t begin = border(range.begin, byte);
  return {begin, border(begin, byte + 1u)};
}

}  // namespace headwater
