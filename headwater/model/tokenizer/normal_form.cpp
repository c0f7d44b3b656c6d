#include "headwater/model/tokenizer/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>

#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/unicode_tables.h"

namespace headwater {
namespace {

bool has_normal_form(char32_t c) {
  if (c < 0xA0) return false;
  const auto& table = unicode::in_normal_forms;
  const auto after = std::upper_bound(
      table.begin(), table.end(), c,
      [](char32_t code, const unicode::Range& range) { return code < range.first; });
  return after != table.begin() && c <= std::prev(after)->last;
}

int combining_class(char32_t c) {
  if (c < 0x300 || !has_normal_form(c)) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

// The one character that the two compose to.
std::optional<char32_t> compose(char32_t a, char32_t b) {
  // U+11A7 is not a jamo, but the library treats it as one that adds nothing.
  if (b < 0x300 || b == 0x11A7) return {};
  utf8proc_int32_t both[3] = {static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  if (utf8proc_normalize_utf32(both, 2, options) != 1) return {};
  const auto c = static_cast<char32_t>(both[0]);
  if (!has_normal_form(c)) return {};
  return c;
}

struct Decomposed {
  int combining_class;
  Change one;
};

class Decomposition {
 public:
  explicit Decomposition(bool compatible)
      : options_(static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE |
                                                (compatible ? UTF8PROC_COMPAT : 0))) {}

  void add(char32_t c) {
    if (!has_normal_form(c)) return push(c, 0);
    std::array<utf8proc_int32_t, 32> parts;
    int boundary = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                               parts.size(), options_, &boundary);
    for (utf8proc_ssize_t i = 0; i < count; ++i)
      push(static_cast<char32_t>(parts[static_cast<size_t>(i)]), i == 0 ? 0 : 1);
  }
  std::vector<Decomposed> finish() {
    sort_marks();
    return std::move(out_);
  }

 private:
  void push(char32_t c, int64_t change) {
    const int its_class = combining_class(c);
    if (its_class == 0) sort_marks();
    out_.push_back({its_class, {c, change}});
    if (its_class == 0) sorted_ = out_.size();
  }
  void sort_marks() {
    std::stable_sort(out_.begin() + static_cast<ptrdiff_t>(sorted_), out_.end(),
                     [](const Decomposed& a, const Decomposed& b) {
                       return a.combining_class < b.combining_class;
                     });
    sorted_ = out_.size();
  }

  utf8proc_option_t options_;
  std::vector<Decomposed> out_;
  size_t sorted_ = 0;
};

// A starter and the marks after it that did not combine with it.
class Composition {
 public:
  void add(const Decomposed& next) {
    if (!starter_) {
      if (next.combining_class == 0)
        starter_ = next.one;
      else
        out_.push_back(next.one);
      return;
    }
    const bool blocked = last_class_ && *last_class_ >= next.combining_class;
    if (!blocked) {
      if (const auto both = compose(starter_->code, next.one.code)) {
        starter_ = Change{*both, starter_->change + next.one.change - 1};
        return;
      }
    }
    if (next.combining_class == 0) {
      flush();
      starter_ = next.one;
      return;
    }
    marks_.push_back(next.one);
    last_class_ = next.combining_class;
  }
  std::vector<Change> finish() {
    flush();
    return std::move(out_);
  }

 private:
  void flush() {
    if (starter_) out_.push_back(*starter_);
    out_.insert(out_.end(), marks_.begin(), marks_.end());
    starter_.reset();
    marks_.clear();
    last_class_.reset();
  }

  std::vector<Change> out_, marks_;
  std::optional<Change> starter_;
  std::optional<int> last_class_;
};

}  // namespace

std::vector<Change> normalise(std::string_view text, NormalForm form) {
  Decomposition decomposition(form == NormalForm::nfkc || form == NormalForm::nfkd);
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    decomposition.add(c.code);
    at += static_cast<size_t>(c.length);
  }
  const std::vector<Decomposed> parts = decomposition.finish();
  if (form == NormalForm::nfc || form == NormalForm::nfkc) {
    Composition composition;
    for (const Decomposed& part : parts) composition.add(part);
    return composition.finish();
  }
  std::vector<Change> out;
  out.reserve(parts.size());
  for (const Decomposed& part : parts) out.push_back(part.one);
  return out;
}

}  // namespace headwater
