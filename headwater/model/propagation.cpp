#include "headwater/model/propagation.h"

#include <algorithm>
#include <vector>

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
  std::vector<double> sums(bias.size());
  const auto add = [&](MatrixView rows, double& total) {
    // Column by column, so that the additions of a row do not wait for each other.
    std::ranges::fill(sums, 0.0);
    for (int t = 0; t < rows.rows(); ++t) {
      const float* row = rows.row(t).data();
      for (size_t d = 0; d < sums.size(); ++d) sums[d] += double{row[d]};
    }
    for (size_t d = 0; d < sums.size(); ++d) total += sums[d] * bias[d];
  };
  if (lengths.empty()) return add(gradient, biases);
  int first = 0;
  for (size_t k = 0; k < lengths.size(); ++k) {
    add(gradient.rows(first, lengths[k]), each[k]);
    first += lengths[k];
  }
}

}  // namespace headwater
