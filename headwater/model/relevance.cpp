// The relevance of a model's input, by one backward pass.
#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/model_source.h"
#include "headwater/model/target.h"
#include "headwater/model/trace.h"

namespace headwater {

RelevanceAnswer ModelSource::relevance(const RelevanceRequest& request) {
  passed_scores_ = request.rule == RelevanceRule::attnlrp;
  if (pack_) {
    if (std::optional<RelevanceAnswer> answer = pack_->relevance(place_, request)) {
      remember([&](Range decide) { return pack_->hidden(place_, decide); });
      return std::move(*answer);
    }
  }
  const Matrix rows = input_rows();
  const bool integrates = request.rule == RelevanceRule::integrated;
  const Baseline from = integrates ? baseline(request.baseline) : Baseline();
  RelevanceAnswer answer;
  {
    const Trace run = trace(model_, enter(rows.copy()));
    remember(run.hidden);
    answer.target = choose_target(model_, head(), description_, request, run.finished);
    answer.output = output_of(answer.target);
    if (!integrates) pass_relevance(request, rows, run, answer);
  }
  if (integrates) integrate(request, rows, from, answer);
  for (const float value : answer.input) {
    if (!std::isfinite(value))
      fail(
          "{}: the relevance of a token is {}, expected a number; check that the weights are "
          "intact",
          model_.name(), value);
    answer.sum += double{value};
  }
  return answer;
}

void ModelSource::pass_relevance(const RelevanceRequest& request, MatrixView rows, const Trace& run,
                                 RelevanceAnswer& answer) const {
  const Architecture& shape = model_.architecture();
  const int n = rows.rows();
  Propagation how(request.rule);
  Matrix gradient(n, shape.width);
  add_target(head(), run.finished, answer.target, how, gradient);
  if (request.by_layer) answer.by_layer = Matrix(shape.layers, n);
  if (request.heads) answer.heads = Matrix(shape.layers, shape.heads);
  if (request.edges) answer.edges = Matrix(n, n);
  LayerCalls calls;
  calls.map = [&](int layer) {
    if (layer != request.edges) return kernel::HeadMap();
    return kernel::HeadMap{kernel::Reduce::sum, 1, 0, shape.heads, answer.edges};
  };
  calls.done = [&](int layer, MatrixView input, MatrixView below, const Backward& backward) {
    if (request.heads) backward.put_head_shares(answer.heads.row(layer));
    if (request.by_layer && layer > 0) put_products(input, below, answer.by_layer.row(layer - 1));
  };
  model_.finish_backward(run.hidden, how, gradient);
  if (request.by_layer) put_products(run.hidden, gradient, answer.by_layer.row(shape.layers - 1));
  pass_back(model_, run, how, gradient, calls);
  answer.input.resize(static_cast<size_t>(n));
  put_products(rows, leave(rows, how, gradient), answer.input);
  answer.rest = how.biases;
}

}  // namespace headwater
