#include "headwater/model/tokenizer/regex.h"

#include <oniguruma.h>

#include <algorithm>
#include <mutex>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/budget.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/unicode_tables.h"

namespace headwater {
namespace {

void start_oniguruma() {
  static std::once_flag once;
  std::call_once(once, [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
  });
}

std::string message_of(int code, OnigErrorInfo* info) {
  OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
  const int length = onig_error_code_to_str(text, code, info);
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(std::max(length, 0))};
}

// Oniguruma may know an older Unicode than the patterns assume. A newer character is replaced by an
// older one of the same category and length, so that matches cover the same bytes.
std::string with_stand_ins(std::string_view text) {
  const auto& table = unicode::stand_ins;
  std::string out(text);
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.length > 2) {
      const auto after = std::upper_bound(
          table.begin(), table.end(), c.code,
          [](char32_t code, const unicode::StandIn& row) { return code < row.first; });
      if (after != table.begin() && c.code <= std::prev(after)->last) {
        std::string other;
        append_utf8(other, std::prev(after)->other);
        out.replace(at, other.size(), other);
      }
    }
    at += static_cast<size_t>(c.length);
  }
  return out;
}

bool may_hold_stand_ins(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0xE0; });
}

struct Region {
  OnigRegion* region = onig_region_new();
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { onig_region_free(region, 1); }
};

bool is_limit(int code) {
  return code == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER || code == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
}

struct Limits {
  OnigMatchParam* param = onig_new_match_param();
  Limits() {
    onig_initialize_match_param(param);
    onig_set_match_stack_limit_size_of_match_param(param, 1u << 24);
  }
  void set(unsigned long steps) {
    onig_set_retry_limit_in_match_of_match_param(param, steps);
    onig_set_retry_limit_in_search_of_match_param(param, steps);
  }
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;
  ~Limits() { onig_free_match_param(param); }
};

}  // namespace

void Regex::Free::operator()(re_pattern_buffer* regex) const { onig_free(regex); }

Regex::Regex(const std::string& pattern, const std::string& what) : what_(what) {
  start_oniguruma();
  constexpr size_t longest = 1 << 16;
  if (pattern.size() > longest)
    fail("{}: is {} bytes long, expected at most {}; check the file", what, pattern.size(),
         longest);
  const auto* begin = reinterpret_cast<const OnigUChar*>(pattern.data());
  regex_t* regex = nullptr;
  OnigErrorInfo info{};
  const int code = onig_new(&regex, begin, begin + pattern.size(), ONIG_OPTION_NONE,
                            ONIG_ENCODING_UTF8, OnigDefaultSyntax, &info);
  regex_.reset(regex);
  if (code != ONIG_NORMAL)
    fail(
        "{}: '{}' is not a regular expression ({}), expected one that Oniguruma takes; check the "
        "file",
        what, pattern, message_of(code, &info));
}

std::vector<Match> Regex::matches(std::string_view text) const {
  if (text.empty()) return {{0, 0, false}};
  std::string replaced;
  if (may_hold_stand_ins(text)) {
    replaced = with_stand_ins(text);
    text = replaced;
  }
  const Region region;
  Limits limits;
  const auto* begin = reinterpret_cast<const OnigUChar*>(text.data());
  const auto* end = begin + text.size();
  std::vector<Match> out;
  size_t from = 0, covered = 0;
  bool after_match = false;
  while (from <= text.size()) {
    // Oniguruma does not say how many steps it took, but stops at a limit. So it tries with few,
    // then with more, and pays for each try.
    int found = ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
    for (unsigned long steps = 128; is_limit(found); steps *= 8) {
      Budget::spend_steps(steps, what_);
      limits.set(steps);
      onig_region_clear(region.region);
      found = onig_search_with_param(regex_.get(), begin, end, begin + from, end, region.region,
                                     ONIG_OPTION_NONE, limits.param);
    }
    if (found == ONIG_MISMATCH) break;
    if (found < 0)
      fail(
          "{}: gave up on a text of {} bytes ({}), expected a pattern that does not backtrack so "
          "much; simplify it",
          what_, text.size(), message_of(found, nullptr));
    const auto match_begin = static_cast<size_t>(region.region->beg[0]);
    const auto match_end = static_cast<size_t>(region.region->end[0]);
    // An empty match right after another would repeat forever.
    if (match_begin == match_end && after_match && match_end == covered) {
      from += from < text.size() ? static_cast<size_t>(length_of(text[from])) : 1;
      continue;
    }
    if (covered != match_begin) out.push_back({covered, match_begin, false});
    out.push_back({match_begin, match_end, true});
    from = covered = match_end;
    after_match = true;
  }
  if (covered != text.size()) out.push_back({covered, text.size(), false});
  return out;
}

}  // namespace headwater
