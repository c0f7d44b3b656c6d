#include "headwater/method/evaluate/faithfulness.h"

#include <algorithm>
#include <array>

namespace headwater {
namespace {

constexpr std::array<int, 5> shares = {1, 5, 10, 20, 50};  // per cent
constexpr int steps = 10;

// ceil(percent / 100 * count) in integers.
size_t part_of(size_t count, size_t percent) { return (count * percent + 99) / 100; }

// Sorted, as Probabilities requires.
std::vector<int> some(std::vector<int>::const_iterator begin,
                      std::vector<int>::const_iterator end) {
  std::vector<int> out(begin, end);
  std::ranges::sort(out);
  return out;
}

}  // namespace

void Probabilities::learn(const Sets& sets) {
  Sets fresh;
  for (const std::vector<int>& blanked : sets)
    if (!known_.contains(blanked) && std::ranges::find(fresh, blanked) == fresh.end())
      fresh.push_back(blanked);
  if (fresh.empty()) return;
  const std::vector<double> found = ask_(fresh);
  for (size_t k = 0; k < fresh.size(); ++k) known_[fresh[k]] = found[k];
}

double Probabilities::without(const std::vector<int>& blanked) {
  learn({blanked});
  return known_.at(blanked);
}

Faithfulness faithfulness(std::span<const float> values, const std::vector<int>& counted,
                          Probabilities& probabilities) {
  std::vector<int> order = counted;
  std::ranges::stable_sort(order, [&](int a, int b) {
    return values[static_cast<size_t>(a)] > values[static_cast<size_t>(b)];
  });
  const auto after = [&](size_t count) {
    return order.cbegin() + static_cast<std::ptrdiff_t>(count);
  };
  const auto first = [&](size_t percent) {
    return some(order.cbegin(), after(part_of(order.size(), percent)));
  };
  Probabilities::Sets all = {{}};
  for (const int share : shares) {
    const size_t count = part_of(order.size(), static_cast<size_t>(share));
    all.push_back(first(static_cast<size_t>(share)));
    all.push_back(some(after(count), order.cend()));
  }
  for (size_t step = 0; step <= steps; ++step) all.push_back(first(100 * step / steps));
  probabilities.learn(all);
  const double whole = probabilities.without({});
  Faithfulness out;
  for (const int share : shares) {
    const size_t count = part_of(order.size(), static_cast<size_t>(share));
    const double removed = probabilities.without(first(static_cast<size_t>(share)));
    const double alone = probabilities.without(some(after(count), order.cend()));
    out.comprehensiveness += (whole - removed) / static_cast<double>(shares.size());
    out.sufficiency += (whole - alone) / static_cast<double>(shares.size());
  }
  for (size_t step = 0; step <= steps; ++step) {
    out.curve.push_back(probabilities.without(first(100 * step / steps)));
    if (step > 0) out.area += (out.curve[step] + out.curve[step - 1]) / 2 / steps;
  }
  return out;
}

}  // namespace headwater
