// Sorted texts, searched byte by byte: which of them start here?
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// A trie without nodes: texts with the same prefix are adjacent.
class PrefixIndex {
 public:
  PrefixIndex() = default;
  /// `texts` with a value each. The last value of a repeated text counts; empty texts are ignored.
  explicit PrefixIndex(std::vector<std::pair<std::string_view, uint32_t>> texts);

  bool empty() const { return values_.empty(); }

  /// Calls found(length, value) for every text that occurs at byte `at` of `text`, shortest first.
  template <class Found>
  void walk(std::string_view text, size_t at, Found found) const;

 private:
  struct Range {
    uint32_t begin, end;
  };
  std::string_view entry(size_t i) const {
    return std::string_view(bytes_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  }
  Range narrow(Range range, size_t depth, unsigned char byte) const;

  std::string bytes_;
  std::vector<size_t> begins_{0};
  std::vector<uint32_t> values_;
  std::vector<Range> first_two_;  // by the first two bytes
  std::array<Range, 256> first_{};
};

template <class Found>
void PrefixIndex::walk(std::string_view text, size_t at, Found found) const {
  if (values_.empty() || at >= text.size()) return;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  Range range = first_[byte(0)];
  for (size_t depth = 1; range.begin < range.end; ++depth) {
    if (begins_[range.begin + 1] - begins_[range.begin] == depth) {
      found(depth, values_[range.begin]);
      ++range.begin;
    }
    if (at + depth >= text.size()) return;
    range = depth == 1 ? first_two_[byte(0) * 256u + byte(1)] : narrow(range, depth, byte(depth));
  }
}

}  // namespace headwater
