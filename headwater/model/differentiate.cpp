// The gradients of a model run on one input.
#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/head_map.h"
#include "headwater/model/model_source.h"
#include "headwater/model/target.h"
#include "headwater/model/trace.h"

namespace headwater {
namespace {

InputGradient input_gradient(MatrixView gradient, MatrixView tokens) {
  InputGradient out;
  for (int t = 0; t < gradient.rows(); ++t) {
    double square = 0, product = 0;
    for (int d = 0; d < gradient.columns(); ++d) {
      square += double{gradient(t, d)} * gradient(t, d);
      product += double{gradient(t, d)} * tokens(t, d);
    }
    out.norm.push_back(static_cast<float>(std::sqrt(square)));
    out.times_input.push_back(static_cast<float>(product));
  }
  return out;
}

// Turns the gradient of the sums into that of the words, if words are projected before the sum.
Matrix to_words(const Model& model, Matrix gradient) {
  const std::optional<TextEmbedding>& text = model.architecture().text;
  if (!text || !text->projects_words) return gradient;
  const LinearWeights project = bind_linear(model.checkpoint(), model.prefix(), text->project,
                                            gradient.columns(), text->size);
  Matrix words(gradient.rows(), text->size);
  kernel::linear(gradient, kernel::transposed(project.weights), {}, words);
  return words;
}

}  // namespace

bool ModelSource::one_of_two() const {
  const OutputHead& from = head();
  return from.outputs() == 2 && (from.kind() == OutputHead::Kind::classes ||
                                 from.kind() == OutputHead::Kind::token_classes);
}

GradientAnswer ModelSource::gradients(const GradientRequest& request, const Visit& visit) {
  const Architecture& shape = model_.architecture();
  const OutputHead& from = head();
  const int n = static_cast<int>(description_.tokens.size());
  Matrix map(n, n);
  const auto fused = [&](int layer) {
    return head_map(request.fuse, shape.heads, layer, model_.name(), map);
  };
  fused(request.range.begin);  // fails early if the head does not exist
  const auto wanted = [&](int layer) {
    return layer >= request.range.begin && layer < request.range.end;
  };

  const Matrix rows = input_rows();
  const Trace run = trace(model_, enter(rows.copy()));
  remember(run.hidden);
  GradientAnswer answer;
  answer.target = choose_target(model_, from, description_, request, run.finished);
  Propagation how;
  Matrix gradient(n, shape.width);
  add_target(from, run.finished, answer.target, how, gradient);
  model_.finish_backward(run.hidden, how, gradient);
  LayerCalls calls;
  calls.map = [&](int layer) { return wanted(layer) ? fused(layer) : kernel::HeadMap(); };
  calls.done = [&](int layer, MatrixView, MatrixView, const Backward&) {
    if (wanted(layer)) visit(layer, map);
  };
  pass_back(model_, run, how, gradient, calls);
  answer.input = input_gradient(to_words(model_, leave(rows, how, gradient)), tokens());
  for (const float norm : answer.input.norm)
    if (!std::isfinite(norm))
      fail(
          "{}: the gradient of the target is {}, expected numbers; check that the weights are "
          "intact",
          model_.name(), norm);
  return answer;
}

}  // namespace headwater
