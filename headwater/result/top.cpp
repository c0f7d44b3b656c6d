#include "headwater/result/top.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headwater {
namespace {

template <class Number>
std::vector<int> top_of(std::span<const Number> values, int count, const std::vector<bool>& kept) {
  std::vector<int> places;
  for (size_t j = 0; j < values.size(); ++j)
    if (kept.empty() || kept[j]) places.push_back(static_cast<int>(j));
  const auto end = places.begin() + std::clamp(count, 0, static_cast<int>(places.size()));
  const auto key = [&](int j) {
    const Number value = values[static_cast<size_t>(j)];
    return std::isnan(value) ? -std::numeric_limits<Number>::infinity() : value;
  };
  // NaN comes last and equal values are ordered by index, so the order is total and the same on
  // every machine.
  std::partial_sort(places.begin(), end, places.end(), [&](int a, int b) {
    const Number x = key(a), y = key(b);
    return x != y ? x > y : a < b;
  });
  places.erase(end, places.end());
  return places;
}

}  // namespace

std::vector<int> top(std::span<const float> values, int count, const std::vector<bool>& kept) {
  return top_of(values, count, kept);
}

std::vector<int> top(std::span<const double> values, int count, const std::vector<bool>& kept) {
  return top_of(values, count, kept);
}

}  // namespace headwater
