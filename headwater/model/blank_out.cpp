// The output of a model that does not see some of its input.
#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/model_source.h"
#include "headwater/model/probability.h"

namespace headwater {

Outcome ModelSource::outcome(const Logit& logit, std::span<const int> blanked) {
  Forward forward(model_, blanked.empty() ? embed() : embed_without(blanked));
  while (forward.next() < model_.architecture().layers) forward.step();
  return outcome_of(logit, forward.hidden());
}

std::vector<Outcome> ModelSource::outcomes(const Logit& logit,
                                           std::span<const std::vector<int>> blanked) {
  const size_t n = description_.tokens.size();
  if (!std::holds_alternative<TextInput>(input_) || !Pack::takes(n) || model_.places())
    return Differentiable::outcomes(logit, blanked);
  std::vector<Outcome> out;
  const size_t at_once = Pack::tokens / n;
  const int rows = static_cast<int>(n);
  while (out.size() < blanked.size()) {
    const size_t count = std::min(at_once, blanked.size() - out.size());
    Matrix hidden(static_cast<int>(count) * rows, model_.architecture().width);
    for (size_t k = 0; k < count; ++k) {
      const std::vector<int>& tokens = blanked[out.size() + k];
      const Matrix one = tokens.empty() ? embed() : embed_without(tokens);
      std::copy_n(one.data(), one.size(), hidden.row(static_cast<int>(k) * rows).data());
    }
    Forward forward(model_, std::move(hidden), std::vector<int>(count, rows));
    while (forward.next() < model_.architecture().layers) forward.step_each({});
    for (size_t k = 0; k < count; ++k)
      out.push_back(outcome_of(logit, forward.hidden().rows(static_cast<int>(k) * rows, rows)));
  }
  return out;
}

Outcome ModelSource::outcome_of(const Logit& logit, MatrixView hidden) const {
  const OutputHead& from = head();
  Matrix finished(hidden.rows(), hidden.columns());
  model_.finish(hidden, finished);
  const bool answers = from.kind() == OutputHead::Kind::answers;
  const MatrixView seen = finished;
  const Matrix logits = from.logits(answers || !from.by_row() ? seen : seen.rows(logit.row, 1));
  std::vector<double> beside;
  if (answers)
    for (int t = 0; t < logits.rows(); ++t) beside.push_back(double{logits(t, logit.id)});
  else
    beside.assign(logits.row(0).begin(), logits.row(0).end());
  const size_t own = static_cast<size_t>(answers ? logit.row : logit.id);
  const bool several =
      from.kind() == OutputHead::Kind::classes && model_.architecture().several_labels;
  const Outcome out{beside[own], class_probability(beside, own, several)};
  if (!std::isfinite(out.probability))
    fail("{}: the logit of the target is {}, expected a number; check that the weights are intact",
         model_.name(), out.logit);
  return out;
}

}  // namespace headwater
