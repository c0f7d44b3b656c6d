#include "headwater/model/tokenizer/graphemes.h"

#include <utf8proc.h>

#include <algorithm>

#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/unicode_tables.h"

namespace headwater {
namespace {

enum class Kind { other, cr, lf, control, extend, joiner, spacing, prepend, l, v, t, lv, lvt };

int bound_class(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass;
}

Kind kind_of(char32_t c) {
  if (c == '\r') return Kind::cr;
  if (c == '\n') return Kind::lf;
  if (c < 0x300 && c != 0xAD)
    return c < ' ' || (c >= 0x7F && c < 0xA0) ? Kind::control : Kind::other;
  if (c == 0x200D) return Kind::joiner;
  if (in(unicode::extend, c))
    return bound_class(c) == UTF8PROC_BOUNDCLASS_SPACINGMARK ? Kind::spacing : Kind::extend;
  if (in(unicode::prepend, c)) return Kind::prepend;
  switch (bound_class(c)) {
    case UTF8PROC_BOUNDCLASS_CONTROL:
      return Kind::control;
    case UTF8PROC_BOUNDCLASS_L:
      return Kind::l;
    case UTF8PROC_BOUNDCLASS_V:
      return Kind::v;
    case UTF8PROC_BOUNDCLASS_T:
      return Kind::t;
    case UTF8PROC_BOUNDCLASS_LV:
      return Kind::lv;
    case UTF8PROC_BOUNDCLASS_LVT:
      return Kind::lvt;
    default:
      return Kind::other;
  }
}

bool is_pictograph(char32_t c) {
  return bound_class(c) == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

bool is_flag(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

bool hangul_goes_on(Kind before, Kind next) {
  if (before == Kind::l)
    return next == Kind::l || next == Kind::v || next == Kind::lv || next == Kind::lvt;
  if (before == Kind::lv || before == Kind::v) return next == Kind::v || next == Kind::t;
  return (before == Kind::lvt || before == Kind::t) && next == Kind::t;
}

// Decides which characters may continue a cluster.
class Cluster {
 public:
  explicit Cluster(char32_t first) { take(first, kind_of(first)); }

  bool takes(char32_t next) {
    const Kind kind = kind_of(next);
    const bool goes_on = joins(next, kind);
    if (goes_on) take(next, kind);
    return goes_on;
  }

 private:
  bool joins(char32_t next, Kind kind) const {
    if (before_ == Kind::cr) return kind == Kind::lf;
    if (before_ == Kind::lf || before_ == Kind::control) return false;
    if (kind == Kind::cr || kind == Kind::lf || kind == Kind::control) return false;
    if (hangul_goes_on(before_, kind)) return true;
    if (kind == Kind::extend || kind == Kind::joiner || kind == Kind::spacing) return true;
    if (before_ == Kind::prepend) return true;
    if (linked_ && in(unicode::conjunct_consonants, next)) return true;
    if (pictograph_ && before_ == Kind::joiner && is_pictograph(next)) return true;
    return flags_ % 2 == 1 && is_flag(next);
  }
  void take(char32_t c, Kind kind) {
    const bool extends = kind == Kind::extend || kind == Kind::joiner;
    if (c >= 0x300) {
      const bool linker = extends && in(unicode::conjunct_linkers, c);
      linked_ = extends && ((consonant_ && linker) || linked_);
      consonant_ = extends ? consonant_ : in(unicode::conjunct_consonants, c);
    } else {
      linked_ = consonant_ = false;
    }
    pictograph_ = extends ? pictograph_ : is_pictograph(c);
    flags_ = is_flag(c) ? flags_ + 1 : 0;
    before_ = kind;
  }

  Kind before_ = Kind::other;
  bool consonant_ = false;   // an Indic consonant, and only extenders since
  bool linked_ = false;      // one of them links it to the next
  bool pictograph_ = false;  // a pictograph, and only extenders since
  int flags_ = 0;            // regional indicators at the end
};

}  // namespace

size_t grapheme_end(std::string_view text, size_t at) {
  const Character first = character_at(text, at);
  at += static_cast<size_t>(first.length);
  // The common case: two ASCII letters.
  if (first.code < 0x80 && first.code != '\r' && at < text.size() && (text[at] & 0x80) == 0)
    return at;
  Cluster cluster(first.code);
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (!cluster.takes(next.code)) break;
    at += static_cast<size_t>(next.length);
  }
  return at;
}

}  // namespace headwater
