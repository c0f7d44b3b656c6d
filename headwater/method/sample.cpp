#include "headwater/method/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace headwater {

double Random::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

int best(std::span<const float> logits) {
  return static_cast<int>(std::ranges::max_element(logits) - logits.begin());
}

Standing standing_of(std::span<const float> logits, int id) {
  const double largest = static_cast<double>(*std::ranges::max_element(logits));
  const auto weight = [&](int k) {
    return std::exp(static_cast<double>(logits[static_cast<size_t>(k)]) - largest);
  };
  double sum = 0;
  Standing out;
  for (int k = 0; k < static_cast<int>(logits.size()); ++k) {
    sum += weight(k);
    if (k != id && (out.second < 0 ||
                    logits[static_cast<size_t>(k)] > logits[static_cast<size_t>(out.second)]))
      out.second = k;
  }
  out.probability = weight(id) / sum;
  if (out.second >= 0) out.second_probability = weight(out.second) / sum;
  return out;
}

int draw(std::span<const float> logits, double temperature, int top_k, double top_p,
         Random& random) {
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  if (top_k > 0 && static_cast<size_t>(top_k) < order.size())
    order.resize(static_cast<size_t>(top_k));
  const double largest = static_cast<double>(logits[static_cast<size_t>(order[0])]);
  std::vector<double> weights;
  double sum = 0;
  for (const int id : order) {
    const double logit = static_cast<double>(logits[static_cast<size_t>(id)]);
    weights.push_back(std::exp((logit - largest) / temperature));
    sum += weights.back();
  }
  size_t kept = 0;
  double share = 0;
  while (kept < weights.size() && (kept == 0 || share < top_p * sum)) share += weights[kept++];
  double left = random.next() * share;
  for (size_t k = 0; k < kept; ++k)
    if ((left -= weights[k]) < 0) return order[k];
  return order[kept - 1];
}

}  // namespace headwater
