// The calls of backward.h: they check their arguments, give rows to threads and call the kernels
// in use.
#include "headwater/kernel/backward.h"

#include <cassert>
#include <utility>

#include "headwater/kernel/kernel.h"
#include "headwater/kernel/row_blocks.h"

namespace headwater::kernel {
namespace {

[[maybe_unused]] bool same_shape(MatrixView a, MatrixView b) {
  return a.rows() == b.rows() && a.columns() == b.columns();
}

}  // namespace

Weights transposed(const Weights& weights) {
  Weights other = weights;
  std::swap(other.outputs, other.inputs);
  other.input_major = !weights.input_major;
  return other;
}

void layer_norm_backward(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                         MatrixView gradient, Into into, MatrixSpan dx) {
  assert(same_shape(x, gradient) && same_shape(x, dx) && into != Into::multiply);
  assert(weight.size() == static_cast<size_t>(x.columns()));
  const BackwardKernels& run = in_use().backward;
  for_row_blocks(x.rows(), x.columns(), [&](int first, int count) {
    run.layer_norm(x.rows(first, count), weight, epsilon, slope, gradient.rows(first, count), into,
                   dx.rows(first, count));
  });
}

void rms_norm_backward(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                       MatrixView gradient, Into into, MatrixSpan dx) {
  assert(same_shape(x, gradient) && same_shape(x, dx) && into != Into::multiply);
  assert(weight.size() == static_cast<size_t>(x.columns()));
  const BackwardKernels& run = in_use().backward;
  for_row_blocks(x.rows(), x.columns(), [&](int first, int count) {
    run.rms_norm(x.rows(first, count), weight, epsilon, slope, gradient.rows(first, count), into,
                 dx.rows(first, count));
  });
}

void activation_backward(MatrixView x, Activation activation, Slope slope, MatrixSpan gradient) {
  assert(same_shape(x, gradient));
  const BackwardKernels& run = in_use().backward;
  for_row_blocks(x.rows(), x.columns(), [&](int first, int count) {
    run.activation(x.rows(first, count), activation, slope, gradient.rows(first, count));
  });
}

void gated_backward(Activation activation, Slope slope, MatrixView gradient, MatrixSpan gate,
                    MatrixSpan up) {
  assert(same_shape(gradient, gate) && same_shape(gradient, up));
  const BackwardKernels& run = in_use().backward;
  for_row_blocks(gradient.rows(), gradient.columns(), [&](int first, int count) {
    run.gated(activation, slope, gradient.rows(first, count), gate.rows(first, count),
              up.rows(first, count));
  });
}

void attention_backward(const Attention& in, MatrixView gradient, const AttentionRule& rule,
                        const AttentionGradient& out, const HeadMap& fused) {
  assert(in.heads > 0 && in.groups > 0 && in.heads % in.groups == 0);
  assert(in.queries.rows() == in.keys.rows() && in.sight.first == 0);
  assert(same_shape(gradient, in.queries) && same_shape(in.values, in.keys));
  assert(rule.scores == 0 ||
         (same_shape(out.queries, in.queries) && same_shape(out.keys, in.keys)));
  assert(same_shape(out.values, in.keys));
  assert(rule.scores == 0 || in.buckets.count == 0 ||
         (same_shape(out.bucket_queries, in.buckets.queries) &&
          same_shape(out.bucket_keys, in.buckets.keys)));
  assert(fused.map.rows() == 0 ||
         (fused.map.rows() == in.queries.rows() && fused.map.columns() == in.keys.rows()));
  in_use().backward.attention(in, gradient, rule, out, fused);
}

double weighted_sum(MatrixView x, std::span<const float> weight) {
  assert(weight.size() == static_cast<size_t>(x.columns()));
  return in_use().backward.weighted_sum(x, weight);
}

}  // namespace headwater::kernel
