// From logits to a probability.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace headwater {

/// Softmax of the k-th logit; of a single one, 1 / (1 + e^-logit).
inline double softmax_at(const std::vector<double>& logits, size_t k) {
  if (logits.size() == 1) return 1 / (1 + std::exp(-logits[0]));
  const double top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - top);
  return std::exp(logits[k] - top) / sum;
}

/// The probability of class k: of each class alone if several can be true at once.
inline double class_probability(const std::vector<double>& logits, size_t k, bool several) {
  return several ? softmax_at({logits[k]}, 0) : softmax_at(logits, k);
}

}  // namespace headwater
