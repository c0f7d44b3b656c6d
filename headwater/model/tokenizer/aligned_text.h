// A text that is being normalised, with the place in the original of every byte.
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

/// A character of a changed text. `change` is 0 where it takes the place of the next old character,
/// 1 where it is new, and -n where it takes one place and n old characters after it are gone.
struct Change {
  char32_t code;
  int64_t change;
};

/// Part of a text that a pattern matched, or that it did not.
struct Match {
  size_t begin, end;
  bool matched;
};

class AlignedText {
 public:
  /// All of `text` as it is; it must be valid UTF-8, shorter than 2^31 bytes.
  explicit AlignedText(std::string_view text);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  ByteSpan original() const { return original_; }

  /// The bytes of the original that [begin, end) came from. An empty range, and one that reaches
  /// past the end, has none: the numbers come back, the first kind counted from the original's
  /// begin.
  ByteSpan original_of(size_t begin, size_t end) const;

  AlignedText slice(size_t begin, size_t end) const;

  /// The text anew from `changes`; `removed` old characters before the first are gone. Throws Error
  /// if the changes speak of more characters than there are.
  void transform(std::span<const Change> changes, size_t removed = 0);

  template <class Keep>
  void filter(Keep keep);
  template <class Map>
  void map(Map map);

  /// Throws Error if a text of so many bytes is more than a sensible normalizer makes of this one.
  void check_growth(size_t bytes) const;

  /// Puts `prefix` before the first character, whose place it shares. Nothing if the text is empty.
  void prepend(std::string_view prefix);

  /// `content` in place of each match; it comes from where the match ends.
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
