// The backward pass of a model run on one input.
#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/backward.h"
#include "headwater/model/head_map.h"
#include "headwater/model/model_source.h"
#include "headwater/model/norm.h"
#include "headwater/model/target.h"

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

}  // namespace

GradientAnswer ModelSource::gradients(const GradientRequest& request, const Visit& visit) {
  const Architecture& shape = model_.architecture();
  const Classifier& classifier = model_.classifier();
  const int n = static_cast<int>(description_.tokens.size());
  Matrix map(n, n);
  const auto fused = [&](int layer) {
    return head_map(request.fuse, shape.heads, layer, model_.name(), map);
  };
  fused(request.range.begin);  // fails early if the head does not exist

  // sums[l] is the input of layer l's last norm, or the layer's output: enough to run l + 1 again.
  const Matrix embedded = embed();
  std::vector<Matrix> sums;
  Matrix hidden(n, shape.width);
  run(shape.layers, [&](Forward& forward) {
    sums.emplace_back(n, shape.width);
    forward.step({}, sums.back());
    if (forward.next() == shape.layers)
      for (int t = 0; t < n; ++t) std::ranges::copy(forward.hidden().row(t), hidden.row(t).begin());
  });

  Matrix rows(n, shape.width), gradient(n, shape.width);
  model_.finish(hidden, rows);
  GradientAnswer answer;
  answer.target = choose_target(model_, classifier, description_, request, rows);
  const auto add = [&](const Logit& logit, float weight) {
    const bool one = classifier.by_row();
    classifier.backward(one ? MatrixView(rows).rows(logit.row, 1) : rows, logit.id, weight,
                        one ? MatrixSpan(gradient).rows(logit.row, 1) : gradient);
  };
  add(answer.target.logit, 1);
  if (answer.target.against) add(*answer.target.against, -1);
  model_.finish_backward(hidden, gradient);

  Backward backward(model_, n);
  for (int l = shape.layers - 1; l >= 0; --l) {
    MatrixView input = embedded;
    if (l > 0 && shape.norm_first) input = sums[static_cast<size_t>(l) - 1];
    if (l > 0 && !shape.norm_first) {
      apply_norm(shape, model_.layer(l - 1).feed_norm, sums[static_cast<size_t>(l) - 1], rows);
      input = rows;
    }
    const bool wanted = l >= request.range.begin && l < request.range.end;
    backward.layer(l, input, sums[static_cast<size_t>(l)], gradient,
                   wanted ? fused(l) : kernel::HeadMap());
    sums.pop_back();
    if (wanted) visit(l, map);
  }
  answer.input = input_gradient(backward_to_tokens(gradient), tokens());
  for (const float norm : answer.input.norm)
    if (!std::isfinite(norm))
      fail("{}: the gradient of '{}' is {}, expected numbers; check that the weights are intact",
           model_.name(), answer.target.logit.name, norm);
  return answer;
}

}  // namespace headwater
