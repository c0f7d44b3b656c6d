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
  const auto absorbed = [&](MatrixView rows) {
    // Column by column, so that the additions of a row do not wait for each other.
    std::vector<double> sums(bias.size());
    for (int t = 0; t < rows.rows(); ++t) {
      const float* row = rows.row(t).data();
      for (size_t d = 0; d < sums.size(); ++d) sums[d] += double{row[d]};
    }
    double total = 0;
    for (size_t d = 0; d < sums.size(); ++d) total += sums[d] * bias[d];
    return total;
  };
  if (lengths.empty()) {
    biases += absorbed(gradient);
    return;
  }
  std::vector<int> first(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), first.begin(), 0);
  parallel_for(static_cast<int>(lengths.size()), [&](int at) {
    const auto k = static_cast<size_t>(at);
    each[k] += absorbed(gradient.rows(first[k], lengths[k]));
  });
}

}  // namespace headwater
