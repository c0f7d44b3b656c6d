#include "headwater/method/align.h"

#include <algorithm>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// For special tokens, how many texts start before them; -1 for tokens of a text.
std::vector<int> stations(const Description& described) {
  std::vector<int> stations;
  int begun = 0;
  for (const TokenPlace& place : described.places) {
    begun = std::max(begun, place.text + 1);
    stations.push_back(place.text < 0 ? begun : -1);
  }
  return stations;
}

// The tokens that cover at least one byte of a text, in order of their starts.
std::vector<int> covering(const Description& described, int text) {
  std::vector<int> tokens;
  for (size_t t = 0; t < described.places.size(); ++t)
    if (described.places[t].text == text && described.places[t].begin < described.places[t].end)
      tokens.push_back(static_cast<int>(t));
  std::ranges::stable_sort(tokens, {},
                           [&](int t) { return described.places[static_cast<size_t>(t)].begin; });
  return tokens;
}

struct Pieces {
  const Description& first;
  const Description& second;
  Alignment out;

  const TokenPlace& place(const Description& described, int token) const {
    return described.places[static_cast<size_t>(token)];
  }

  // All that the tokens of a piece cover, on either side.
  TokenPlace place_of(const std::vector<int>& ours, const std::vector<int>& theirs) const {
    TokenPlace out = place(first, ours.front());
    if (out.text < 0) return out;
    const auto widen = [&](const TokenPlace& one) {
      out.begin = std::min(out.begin, one.begin);
      out.end = std::max(out.end, one.end);
    };
    for (const int t : ours) widen(place(first, t));
    if (!second.places.empty())
      for (const int t : theirs) widen(place(second, t));
    return out;
  }

  void add(std::vector<int> ours, std::vector<int> theirs) {
    const bool one = ours.size() == 1 || theirs.size() != 1;
    std::string name;
    for (const int t : one ? ours : theirs)
      name += (one ? first : second).tokens[static_cast<size_t>(t)];
    out.names.push_back(std::move(name));
    if (!first.places.empty()) out.places.push_back(place_of(ours, theirs));
    out.first.push_back(std::move(ours));
    out.second.push_back(std::move(theirs));
  }

  // Walks both lists from left to right. A piece grows while a token of either list reaches into
  // it.
  void sweep(int text) {
    const std::vector<int> ours = covering(first, text), theirs = covering(second, text);
    size_t a = 0, b = 0;
    while (a < ours.size() && b < theirs.size()) {
      std::vector<int> left, right;
      size_t end = std::min(place(first, ours[a]).begin, place(second, theirs[b]).begin) + 1;
      bool grown = true;
      while (grown) {
        grown = false;
        for (; a < ours.size() && place(first, ours[a]).begin < end; ++a, grown = true) {
          left.push_back(ours[a]);
          end = std::max(end, place(first, ours[a]).end);
        }
        for (; b < theirs.size() && place(second, theirs[b]).begin < end; ++b, grown = true) {
          right.push_back(theirs[b]);
          end = std::max(end, place(second, theirs[b]).end);
        }
      }
      if (!left.empty() && !right.empty()) add(std::move(left), std::move(right));
    }
  }

  void pair_specials(int station) {
    const auto at = [&](const Description& described) {
      const std::vector<int> where = stations(described);
      std::vector<int> tokens;
      for (size_t t = 0; t < where.size(); ++t)
        if (where[t] == station) tokens.push_back(static_cast<int>(t));
      return tokens;
    };
    const std::vector<int> ours = at(first), theirs = at(second);
    for (size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k) add({ours[k]}, {theirs[k]});
  }
};

int left_out(const Description& described, const std::vector<std::vector<int>>& pieces) {
  size_t used = 0;
  for (const std::vector<int>& piece : pieces) used += piece.size();
  return static_cast<int>(described.tokens.size() - used);
}

}  // namespace

Alignment align(const Description& first, const Description& second) {
  Pieces pieces{first, second, {}};
  pieces.out.texts = first.texts;
  if (first.tokens == second.tokens) {
    for (size_t t = 0; t < first.tokens.size(); ++t)
      pieces.add({static_cast<int>(t)}, {static_cast<int>(t)});
    return std::move(pieces.out);
  }
  if (first.places.empty() || second.places.empty())
    fail(
        "{}: has different tokens ({}) from {} ({}), expected the same, or two models on one "
        "text; give `text`",
        second.name, second.tokens.size(), first.name, first.tokens.size());
  pieces.pair_specials(0);
  pieces.sweep(0);
  pieces.pair_specials(1);
  pieces.sweep(1);
  pieces.pair_specials(2);
  if (pieces.out.names.empty())
    fail("{}: shares no part of the text with {}, expected some; give a longer text", second.name,
         first.name);
  pieces.out.only_first = left_out(first, pieces.out.first);
  pieces.out.only_second = left_out(second, pieces.out.second);
  return std::move(pieces.out);
}

}  // namespace headwater
