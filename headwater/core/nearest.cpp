#include "headwater/core/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace headwater {
namespace {

// Without the dashes of an option, which every option has.
std::string_view bare(std::string_view name) {
  return name.starts_with("--") ? name.substr(2) : name;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(char a, char b) { return lower(a) == lower(b); }

// Optimal string alignment distance: insert, delete, replace, or swap two neighbours.
int edits(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !same(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// The one name that starts with what was typed, if that is more than a letter or two.
std::string_view beginning(std::string_view typed, std::span<const std::string_view> names) {
  constexpr size_t enough = 3;
  std::string_view found;
  if (bare(typed).size() < enough) return found;
  for (const std::string_view name : names) {
    const std::string_view start = bare(name).substr(0, bare(typed).size());
    if (!std::ranges::equal(start, bare(typed), same)) continue;
    if (!found.empty()) return "";
    found = name;
  }
  return found;
}

}  // namespace

std::string_view nearest(std::string_view typed, std::span<const std::string_view> names) {
  std::string_view best;
  int fewest = 0;
  // `typed` comes from outside: a megabyte of it is not a typing mistake.
  if (typed.empty() || typed.size() > 64) return best;
  for (std::string_view name : names) {
    const int count = edits(bare(typed), bare(name));
    const auto size = static_cast<int>(std::max(bare(typed).size(), bare(name).size()));
    const int allowed = std::max(1, (size + 1) / 3);
    if (count <= allowed && count < static_cast<int>(bare(name).size()) &&
        (best.empty() || count < fewest)) {
      best = name;
      fewest = count;
    }
  }
  return best.empty() ? beginning(typed, names) : best;
}

std::string suggestion(std::string_view typed, std::span<const std::string_view> names) {
  const std::string_view best = nearest(typed, names);
  if (!best.empty()) return fmt::format("; did you mean '{}'?", best);
  return fmt::format("; expected one of {}", fmt::join(names, ", "));
}

}  // namespace headwater
