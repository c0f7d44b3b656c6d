#include "headwater/model/soft_cap.h"

#include <cmath>

namespace headwater {

void cap_logits(float cap, MatrixSpan logits) {
  if (cap == 0) return;
  for (int t = 0; t < logits.rows(); ++t)
    for (float& logit : logits.row(t)) logit = cap * std::tanh(logit / cap);
}

double cap_slope(float cap, double logit, kernel::Slope slope) {
  if (cap == 0 || logit == 0) return 1;
  const double x = logit / cap, capped = std::tanh(x);
  return slope == kernel::Slope::secant ? capped / x : 1 - capped * capped;
}

}  // namespace headwater
