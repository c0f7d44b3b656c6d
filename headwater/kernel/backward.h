// The derivatives of network.h's operations with respect to their inputs; weights are constants.
// With y the number that is differentiated, "the gradient of x" is dy/dx.
//
// A linear map needs no kernel of its own: if out = W x, the gradient of x is W' times that of out,
// which is linear() with transposed() weights. Nor does a rotation: call rotate() with negated
// sines.
#pragma once
#include <span>

#include "headwater/core/matrix.h"
#include "headwater/kernel/network.h"

namespace headwater::kernel {

/// The same weights as a map from outputs to inputs.
Weights transposed(const Weights& weights);

/// For out = layer_norm(x): dx = (or +=) the gradient of x, given that of out. dx may be
/// `gradient`. `into` is store or add.
void layer_norm_backward(MatrixView x, std::span<const float> weight, double epsilon,
                         MatrixView gradient, Into into, MatrixSpan dx);

/// The same for rms_norm.
void rms_norm_backward(MatrixView x, std::span<const float> weight, double epsilon,
                       MatrixView gradient, Into into, MatrixSpan dx);

/// For out = activation(x): gradient *= activation'(x). The slope of relu at 0 is 0.
void activation_backward(MatrixView x, Activation activation, MatrixSpan gradient);

/// For out = activation(gate) * up: replaces `gate` and `up` by their gradients, given that of out.
void gated_backward(Activation activation, MatrixView gradient, MatrixSpan gate, MatrixSpan up);

/// The result of attention_backward: the gradients of queries, keys and values, of their shapes.
struct AttentionGradient {
  MatrixSpan queries, keys, values;
};

/// For out = attention(in), with as many queries as keys (sight.first = 0), given the gradient of
/// out: with P = softmax(scale Q K') of a head and dP = dO V',
///
///   dS = P (x) (dP - rowsum(P (x) dP)),  dQ = scale dS K,  dK = scale dS' Q,  dV = P' dO,
///
/// and in the same pass the map of `fused`: weight * the positive part of P (x) dP, heads fused as
/// attention() does. Only some rows of one head exist at a time, never heads x n x n. Several
/// threads, the same bytes for any number. The results must not overlap each other or the inputs.
void attention_backward(const Attention& in, MatrixView gradient, const AttentionGradient& out,
                        const HeadMap& fused);

/// One implementation of the above, as part of Kernels (kernel.h). attention uses several threads;
/// the others get some of the rows in each call.
struct BackwardKernels {
  void (*layer_norm)(MatrixView x, std::span<const float> weight, double epsilon,
                     MatrixView gradient, Into into, MatrixSpan dx);
  void (*rms_norm)(MatrixView x, std::span<const float> weight, double epsilon, MatrixView gradient,
                   Into into, MatrixSpan dx);
  void (*activation)(MatrixView x, Activation activation, MatrixSpan gradient);
  void (*gated)(Activation activation, MatrixView gradient, MatrixSpan gate, MatrixSpan up);
  void (*attention)(const Attention& in, MatrixView gradient, const AttentionGradient& out,
                    const HeadMap& fused);
};

}  // namespace headwater::kernel
