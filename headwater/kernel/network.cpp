// The calls of network.h: they check their arguments, give rows to threads and call the kernels in
// use.
#include "headwater/kernel/network.h"

#include <cassert>

#include "headwater/kernel/kernel.h"
#include "headwater/kernel/row_blocks.h"

namespace headwater::kernel {

void linear(MatrixView x, const Weights& weights, const Finish& finish, MatrixSpan out) {
  assert(weights.type == DType::f32 || weights.type == DType::f16 || weights.type == DType::bf16);
  assert(x.columns() == weights.inputs && out.columns() == weights.outputs);
  assert(out.rows() == x.rows());
  assert(finish.bias.empty() || finish.bias.size() == static_cast<size_t>(weights.outputs));
  in_use().network.linear(x, weights, finish, out);
}

void activate(MatrixView x, Activation activation, MatrixSpan out) {
  assert(out.rows() == x.rows() && out.columns() == x.columns());
  const NetworkKernels& run = in_use().network;
  for_row_blocks(x.rows(), x.columns(), [&](int first, int count) {
    run.activate(x.rows(first, count), activation, out.rows(first, count));
  });
}

void layer_norm(MatrixView x, std::span<const float> weight, std::span<const float> bias,
                double epsilon, MatrixSpan out) {
  assert(out.rows() == x.rows() && out.columns() == x.columns());
  assert(weight.size() == static_cast<size_t>(x.columns()));
  assert(bias.empty() || bias.size() == weight.size());
  const NetworkKernels& run = in_use().network;
  for_row_blocks(x.rows(), x.columns(), [&](int first, int count) {
    run.layer_norm(x.rows(first, count), weight, bias, epsilon, out.rows(first, count));
  });
}

void rms_norm(MatrixView x, std::span<const float> weight, double epsilon, MatrixSpan out) {
  assert(out.rows() == x.rows() && out.columns() == x.columns());
  assert(weight.size() == static_cast<size_t>(x.columns()));
  const NetworkKernels& run = in_use().network;
  for_row_blocks(x.rows(), x.columns(), [&](int first, int count) {
    run.rms_norm(x.rows(first, count), weight, epsilon, out.rows(first, count));
  });
}

void rotate(MatrixSpan x, int heads, MatrixView cosine, MatrixView sine) {
  assert(heads > 0 && x.columns() % heads == 0);
  assert(cosine.rows() == x.rows() && sine.rows() == x.rows());
  assert(cosine.columns() == sine.columns() && 2 * cosine.columns() <= x.columns() / heads);
  const NetworkKernels& run = in_use().network;
  for_row_blocks(x.rows(), x.columns(), [&](int first, int count) {
    run.rotate(x.rows(first, count), heads, cosine.rows(first, count), sine.rows(first, count));
  });
}

void attention(const Attention& attention, MatrixSpan out, const HeadMap& fused) {
  assert(attention.heads > 0 && attention.groups > 0 && attention.heads % attention.groups == 0);
  assert(attention.queries.columns() % attention.heads == 0);
  assert(attention.keys.columns() ==
         attention.queries.columns() / attention.heads * attention.groups);
  assert(!attention.sight.causal ||
         attention.sight.first + attention.queries.rows() <= attention.keys.rows());
  assert(attention.buckets.count == 0 ||
         (attention.cap == 0 &&
          attention.buckets.of.size() == 2 * static_cast<size_t>(attention.keys.rows()) - 1));
  assert(out.rows() == 0 ||
         (out.rows() == attention.queries.rows() && out.columns() == attention.queries.columns() &&
          attention.values.rows() == attention.keys.rows() &&
          attention.values.columns() == attention.keys.columns()));
  assert(fused.map.rows() == 0 ||
         (fused.map.rows() == attention.queries.rows() &&
          fused.map.columns() == attention.keys.rows() && fused.count >= 1 &&
          fused.first_head >= 0 && fused.first_head + fused.count <= attention.heads));
  in_use().network.attention(attention, out, fused);
}

}  // namespace headwater::kernel
