#include "headwater/model/trace.h"

#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/convolution.h"
#include "headwater/model/norm.h"

namespace headwater {

void run_checked(const Model& model, Matrix embedded, int end,
                 const std::function<void(Forward& forward)>& step,
                 const std::vector<int>& lengths) {
  const auto check = [&](MatrixView hidden, const std::string& what) {
    for (int t = 0; t < hidden.rows(); ++t)
      for (const float number : hidden.row(t))
        if (!std::isfinite(number))
          fail("{}: {} gives {} for token {}, expected numbers; check that the weights are intact",
               model.name(), what, std::isnan(number) ? "NaN" : "infinity", t);
  };
  Forward forward(model, std::move(embedded), lengths);
  // Checked layer by layer: a NaN spreads to other tokens in the next.
  check(forward.hidden(), "the embedding");
  while (forward.next() < end) {
    const int layer = forward.next();
    step(forward);
    check(forward.hidden(), fmt::format("layer {}", layer));
  }
}

namespace {

// Running all layers again takes a quarter of the time of a backward pass and its forward pass.
bool worth_keeping(const Architecture& model, int n) {
  constexpr size_t most = size_t{256} << 20;
  const size_t rows = static_cast<size_t>(n) * static_cast<size_t>(model.layers);
  return rows <= most / LayerState::row_bytes(model);
}

}  // namespace

Trace trace(const Model& model, Matrix embedded, std::vector<int> lengths,
            std::vector<LayerState> spare, const std::vector<int>& rows) {
  const Architecture& shape = model.architecture();
  const int n = embedded.rows();
  Trace out;
  out.embedded = embedded.copy();
  out.hidden = Matrix(n, shape.width);
  out.finished = Matrix(n, shape.width);
  out.lengths = std::move(lengths);
  const bool keeps = worth_keeping(shape, n);
  out.states = std::move(spare);
  out.states.resize(keeps ? static_cast<size_t>(shape.layers) : 0);
  const auto step = [&](Forward& forward) {
    out.sums.emplace_back(n, shape.width);
    LayerState* state = keeps ? &out.states[static_cast<size_t>(forward.next())] : nullptr;
    if (state) state->fit(shape, n);
    if (!rows.empty() && forward.next() == shape.layers - 1 && !model.convolution())
      forward.step_rows(rows, out.sums.back(), state);
    else
      forward.step_each({}, out.sums.back(), state);
    if (forward.next() == shape.layers) copy(forward.hidden(), out.hidden);
  };
  run_checked(model, std::move(embedded), shape.layers, step, out.lengths);
  model.finish(out.hidden, out.finished);
  return out;
}

namespace {

void add_logit(const OutputHead& head, MatrixView finished, const Logit& logit, float weight,
               Propagation& how, MatrixSpan gradient) {
  if (head.by_row())
    head.backward(finished.rows(logit.row, 1), logit.id, weight, how, gradient.rows(logit.row, 1));
  else
    head.backward(finished, logit.id, weight, how, gradient);
}

}  // namespace

void add_target(const OutputHead& head, MatrixView finished, const Target& target, Propagation& how,
                MatrixSpan gradient) {
  add_logit(head, finished, target.logit, 1, how, gradient);
  if (target.against) add_logit(head, finished, *target.against, -1, how, gradient);
}

void put_products(MatrixView x, MatrixView gradient, std::span<float> out) {
  for (int t = 0; t < x.rows(); ++t) {
    double sum = 0;
    for (int d = 0; d < x.columns(); ++d) sum += double{x(t, d)} * gradient(t, d);
    out[static_cast<size_t>(t)] = static_cast<float>(sum);
  }
}

void pass_back(const Model& model, const Trace& trace, Propagation& how, MatrixSpan gradient,
               const LayerCalls& calls) {
  const Architecture& shape = model.architecture();
  const int n = gradient.rows();
  const auto some = [&](const Matrix& rows) { return MatrixView(rows).rows(0, n); };
  const Segments inputs(trace.lengths.empty() ? std::vector<int>{n} : trace.lengths);
  Backward backward(model, inputs.lengths(), how);
  Matrix normed = shape.norm_first ? Matrix() : Matrix(n, shape.width);
  for (int l = shape.layers - 1; l >= 0; --l) {
    const MatrixView below = some(l > 0 ? trace.sums[static_cast<size_t>(l) - 1] : trace.embedded);
    MatrixView input = below;
    // Kept states do not need the input of a block whose norms come last.
    if (l > 0 && !shape.norm_first && (trace.states.empty() || calls.done)) {
      apply_norm(shape, model.layer(l - 1).feed_norm, below, normed);
      if (l == 1 && model.convolution()) model.convolution()->apply(trace.embedded, inputs, normed);
      input = normed;
    }
    const auto at = static_cast<size_t>(l);
    backward.layer(l, input, some(trace.sums[at]),
                   trace.states.empty() ? nullptr : &trace.states[at], gradient,
                   calls.map ? calls.map(l) : kernel::HeadMap());
    if (calls.done) calls.done(l, input, gradient, backward);
  }
}

}  // namespace headwater
