#include "headwater/model/propagation.h"

#include <numeric>
#include <vector>

#include "headwater/core/parallel.h"

namespace headwater {

Propagation::Propagation(RelevanceRule rule) : counts_biases(true) {
  attention.positive = false;
  switch (rule) {
    case RelevanceRule::frozen:
      slope = kernel::Slope::secant;
      attention.scores = 0;
      return;
    case RelevanceRule::attnlrp:
      slope = kernel::Slope::secant;
      attention.scores = 0.25f;
      attention.values = 0.5f;
      // Products with the places of tokens are linear in the tokens.
      attention.buckets = 0.5f;
      attention.cap = kernel::Slope::secant;
      return;
    case RelevanceRule::integrated:
      counts_biases = false;
      return;
  }
}

void Propagation::absorb(MatrixView gradient, const Vector& bias) {
  if (!counts_biases || bias.empty()) return;
  if (lengths.empty()) {
    biases += kernel::weighted_sum(gradient, bias);
    return;
  }
  std::vector<int> first(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), first.begin(), 0);
  parallel_for(static_cast<int>(lengths.size()), [&](int at) {
    const auto k = static_cast<size_t>(at);
    each[k] += kernel::weighted_sum(gradient.rows(first[k], lengths[k]), bias);
  });
}

}  // namespace headwater
