// The output of a model that does not see some of its input.
#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/model_source.h"

namespace headwater {
namespace {

// Softmax of the k-th logit, with the largest subtracted first.
double softmax_at(const std::vector<double>& logits, size_t k) {
  if (logits.size() == 1) return 1 / (1 + std::exp(-logits[0]));
  const double top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - top);
  return std::exp(logits[k] - top) / sum;
}

}  // namespace

Outcome ModelSource::outcome(const Logit& logit, std::span<const int> blanked) {
  const Architecture& shape = model_.architecture();
  const Head& from = head();
  Forward forward(model_, blanked.empty() ? embed() : embed_without(blanked));
  while (forward.next() < shape.layers) forward.step();
  Matrix finished(forward.hidden().rows(), shape.width);
  model_.finish(forward.hidden(), finished);

  const bool answers = from.kind() == Head::Kind::answers;
  const MatrixView seen = finished;
  const Matrix logits = from.logits(answers || !from.by_row() ? seen : seen.rows(logit.row, 1));
  std::vector<double> beside;
  if (answers)
    for (int t = 0; t < logits.rows(); ++t) beside.push_back(double{logits(t, logit.id)});
  else
    beside.assign(logits.row(0).begin(), logits.row(0).end());
  const size_t own = static_cast<size_t>(answers ? logit.row : logit.id);
  const Outcome out{beside[own], softmax_at(beside, own)};
  if (!std::isfinite(out.probability))
    fail("{}: the logit of '{}' is {}, expected a number; check that the weights are intact",
         model_.name(), logit.name, out.logit);
  return out;
}

}  // namespace headwater
