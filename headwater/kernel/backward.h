// The derivatives of network.h's operations with respect to their inputs; weights are constants.
// With y the number that is differentiated, "the gradient of x" is dy/dx.
//
// A linear map needs no kernel of its own: if out = W x, the gradient of x is W' times that of out,
// which is linear() with transposed() weights. Nor does a rotation: call rotate() with negated
// sines.
//
// Relevance rules change some of the derivatives: a Slope and an AttentionRule say how.
#pragma once
#include <span>

#include "headwater/core/matrix.h"
#include "headwater/kernel/network.h"

namespace headwater::kernel {

/// The same weights as a map from outputs to inputs.
Weights transposed(const Weights& weights);

/// How to differentiate a nonlinear operation f.
enum class Slope {
  tangent,  // f'(x)
  secant,   // f(x) / x, as a constant: x times its gradient is f(x) times that of f(x)
};

/// For out = layer_norm(x): dx = (or +=) the gradient of x, given that of out. dx may be
/// `gradient`. `into` is store or add. The secant's standard deviation is a constant, its mean is
/// not.
void layer_norm_backward(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                         MatrixView gradient, Into into, MatrixSpan dx);

/// The same for rms_norm. The secant's root mean square is a constant.
void rms_norm_backward(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                       MatrixView gradient, Into into, MatrixSpan dx);

/// For out = activation(x): gradient *= the slope at x. The slope of relu at 0 is 0; other secants
/// at 0 are tangents.
void activation_backward(MatrixView x, Activation activation, Slope slope, MatrixSpan gradient);

/// For out = activation(gate) * up: replaces `gate` and `up` by their gradients, given that of out.
/// The secant gives each of the two branches half of its gradient.
void gated_backward(Activation activation, Slope slope, MatrixView gradient, MatrixSpan gate,
                    MatrixSpan up);

/// How attention is differentiated, and which map it gives.
struct AttentionRule {
  float scores = 1;      // a factor for the gradients of queries and keys; 0: they are not computed
  float values = 1;      // a factor for the gradient of the values
  bool positive = true;  // the map has only the positive part of P (x) dP
  float buckets = 1;     // a factor for the gradients of the numbers of buckets
  Slope cap = Slope::tangent;
};

/// The result of attention_backward: the gradients of queries, keys and values, of their shapes.
/// All but those of values are not written if the rule's factor for scores is 0.
struct AttentionGradient {
  MatrixSpan queries, keys, values;
  MatrixSpan bucket_queries = {}, bucket_keys = {};  // of Buckets, if it has them
};

/// For out = attention(in), with as many queries as keys (sight.first = 0), given the gradient of
/// out: with P = softmax(scale Q K') of a head and dP = dO V',
///
///   dS = P (x) (dP - rowsum(P (x) dP)),  dQ = scale dS K,  dK = scale dS' Q,  dV = P' dO,
///
/// times the factors of `rule`, and in the same pass the map of `fused`: weight * P (x) dP, or its
/// positive part, heads fused as attention() does. Only some rows of one head exist at a time,
/// never heads x n x n. Several threads, the same bytes for any number. The results must not
/// overlap each other or the inputs.
void attention_backward(const Attention& in, MatrixView gradient, const AttentionRule& rule,
                        const AttentionGradient& out, const HeadMap& fused);

/// The sum over the rows of x of row . weight, in double: the share that the bias `weight` of a
/// linear map takes of its output's gradient x.
double weighted_sum(MatrixView x, std::span<const float> weight);

/// One implementation of the above, as part of Kernels (kernel.h). attention uses several threads;
/// the others get some of the rows in each call.
struct BackwardKernels {
  void (*layer_norm)(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                     MatrixView gradient, Into into, MatrixSpan dx);
  void (*rms_norm)(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                   MatrixView gradient, Into into, MatrixSpan dx);
  void (*activation)(MatrixView x, Activation activation, Slope slope, MatrixSpan gradient);
  void (*gated)(Activation activation, Slope slope, MatrixView gradient, MatrixSpan gate,
                MatrixSpan up);
  void (*attention)(const Attention& in, MatrixView gradient, const AttentionRule& rule,
                    const AttentionGradient& out, const HeadMap& fused);
  double (*weighted_sum)(MatrixView x, std::span<const float> weight);
};

}  // namespace headwater::kernel
