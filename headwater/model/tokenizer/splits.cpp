#include "headwater/model/tokenizer/splits.h"

#include <algorithm>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// Joins what belongs together. Afterwards `matched` marks what to remove.
std::vector<Match> joined(const std::vector<Match>& matches, Behaviour behaviour) {
  std::vector<Match> out;
  bool before = false;
  for (const Match& match : matches) {
    const bool joins =
        behaviour == Behaviour::contiguous ? match.matched == before : match.matched && !before;
    if (joins && !out.empty())
      out.back().end = match.end;
    else
      out.push_back({match.begin, match.end, false});
    before = match.matched;
  }
  return out;
}

std::vector<Match> joined_with_next(const std::vector<Match>& matches) {
  std::vector<Match> out;
  bool before = false;
  for (auto match = matches.rbegin(); match != matches.rend(); ++match) {
    if (match->matched && !before && !out.empty())
      out.back().begin = match->begin;
    else
      out.push_back({match->begin, match->end, false});
    before = match->matched;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

Behaviour read_behaviour(std::string_view name, std::string_view what) {
  if (name == "Removed") return Behaviour::removed;
  if (name == "Isolated") return Behaviour::isolated;
  if (name == "MergedWithPrevious") return Behaviour::merged_with_previous;
  if (name == "MergedWithNext") return Behaviour::merged_with_next;
  if (name == "Contiguous") return Behaviour::contiguous;
  fail(
      "{}: \"behavior\" is '{}', expected Removed, Isolated, MergedWithPrevious, MergedWithNext or "
      "Contiguous; check the file",
      what, name);
}

void cut(const AlignedText& text, std::vector<Match> matches, Behaviour behaviour, Splits& out) {
  switch (behaviour) {
    case Behaviour::removed:
      break;
    case Behaviour::isolated:
      for (Match& match : matches) match.matched = false;
      break;
    case Behaviour::merged_with_next:
      matches = joined_with_next(matches);
      break;
    case Behaviour::merged_with_previous:
    case Behaviour::contiguous:
      matches = joined(matches, behaviour);
      break;
  }
  for (const Match& match : matches)
    if (!match.matched && match.begin < match.end)
      out.push_back({text.slice(match.begin, match.end), {}});
}

}  // namespace headwater
