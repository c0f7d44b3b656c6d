// A text during normalisation, with the place in the original of every byte.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// Bytes of a text, half open.
struct ByteSpan {
  size_t begin = 0, end = 0;
  bool operator==(const ByteSpan&) const = default;
};

/// A character of a changed text. `change` is 0 if it replaces the next old character, 1 if it is
/// new, and -n if it replaces one and the n old characters after it are removed.
struct Change {
  char32_t code;
  int64_t change;
};

/// Part of a text that a pattern did or did not match.
struct Match {
  size_t begin, end;
  bool matched;
};

class AlignedText {
 public:
  /// All of `text`, which must be valid UTF-8 and shorter than 2^31 bytes.
  explicit AlignedText(std::string_view text);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  ByteSpan original() const { return original_; }

  /// The bytes of the original that [begin, end) came from. For an empty range, or one past the
  /// end, there are none: the same numbers are returned, for an empty range from the original's
  /// begin.
  ByteSpan original_of(size_t begin, size_t end) const;

  AlignedText slice(size_t begin, size_t end) const;

  /// Rebuilds the text from `changes`; `removed` old characters before the first are dropped.
  /// Throws Error if the changes refer to more characters than there are.
  void transform(std::span<const Change> changes, size_t removed = 0);

  template <class Keep>
  void filter(Keep keep);
  template <class Map>
  void map(Map map);

  /// Puts `prefix` before the first character, with the same place. Does nothing if the text is
  /// empty.
  void prepend(std::string_view prefix);

  /// Replaces each match by `content`, whose place is the end of the match.
  void replace(std::span<const Match> matches, std::string_view content);

 private:
  struct Place {
    uint32_t begin, end;
  };
  AlignedText() = default;
  void transform_range(size_t begin, size_t end, std::span<const Change> changes, size_t removed);
  std::vector<Change> characters() const;

  std::string text_;
  std::vector<Place> places_;  // of each byte of text_, in bytes of the whole original
  ByteSpan original_;
};

template <class Keep>
void AlignedText::filter(Keep keep) {
  std::vector<Change> kept;
  size_t removed = 0;
  int64_t dropped = 0;
  for (const Change& old : characters()) {
    if (!keep(old.code)) {
      ++dropped;
      continue;
    }
    if (kept.empty())
      removed = static_cast<size_t>(dropped);
    else
      kept.back().change = -dropped;
    kept.push_back({old.code, 0});
    dropped = 0;
  }
  if (!kept.empty()) kept.back().change = -dropped;
  transform(kept, removed);
}

template <class Map>
void AlignedText::map(Map map) {
  std::vector<Change> changes = characters();
  for (Change& one : changes) one.code = map(one.code);
  transform(changes);
}

}  // namespace headwater
