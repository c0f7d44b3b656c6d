// The operations of a transformer's forward pass.
#pragma once
#include <cstddef>
#include <span>

#include "headwater/core/dtype.h"
#include "headwater/core/matrix.h"
#include "headwater/kernel/maps.h"

namespace headwater::kernel {

/// The weights of a linear map as their file stores them: f32, f16 or bf16, at any address. They
/// are never copied as a whole.
struct Weights {
  DType type = DType::f32;
  const std::byte* data = nullptr;
  int outputs = 0;
  int inputs = 0;
  bool input_major = false;  // stored [inputs, outputs], as GPT-2 does; else [outputs, inputs]
};

enum class Activation {
  none,
  gelu,        // x/2 (1 + erf(x / sqrt 2))
  gelu_tanh,   // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  quick_gelu,  // x / (1 + exp(-1.702 x))
  relu,
  silu,  // x / (1 + exp(-x))
  tanh,
};

/// Whether the old value of `out` is replaced, added to, or multiplied (gated units).
enum class Into { store, add, multiply };

/// What is applied to each product before it is stored: bias (empty: none), then the activation,
/// then `into`.
struct Finish {
  std::span<const float> bias;
  Activation activation = Activation::none;
  Into into = Into::store;
};

/// out(t, o) = finish(sum over k of x(t, k) w(o, k)). out does not overlap x. Several threads; the
/// same bytes for any number of them, and row t does not depend on the other rows. One row costs
/// one pass over the weights.
void linear(MatrixView x, const Weights& weights, const Finish& finish, MatrixSpan out);

/// out = activation(x), the same bytes as from linear() with it. out may be x.
void activate(MatrixView x, Activation activation, MatrixSpan out);

/// out(t) = (x(t) - mean) / sqrt(variance + epsilon) * weight + bias, each row by its own mean and
/// variance, which are computed in double. out may be x. An empty bias is none.
void layer_norm(MatrixView x, std::span<const float> weight, std::span<const float> bias,
                double epsilon, MatrixSpan out);

/// out(t) = x(t) / sqrt(mean of squares + epsilon) * weight. out may be x.
void rms_norm(MatrixView x, std::span<const float> weight, double epsilon, MatrixSpan out);

/// Rotary positions: x is n x (heads * size), cosine and sine are n x half, half <= size / 2. In
/// each head of row t, (a, b) = (x[d], x[d + half]) becomes (a cos - b sin, b cos + a sin) for
/// d < half; the rest of the head is unchanged.
void rotate(MatrixSpan x, int heads, MatrixView cosine, MatrixView sine);

/// Which keys a query sees. Row r of the queries is at position first + r of the keys.
struct Sight {
  bool causal = false;  // no key after its own position
  int window = 0;       // only keys nearer than this to its own position; 0 means all
  int first = 0;
};

/// A bias of scores by distance that also depends on the query or the key (He et al. 2021): one
/// number for each bucket of distances.
struct Buckets {
  int count = 0;            // 0: nothing is added
  MatrixView queries = {};  // m x (heads * count), or no rows
  MatrixView keys = {};     // n x (heads * count), or no rows
  /// 2 n - 1: the bucket of the distance between a query at position i and key j, at j - i + n - 1.
  std::span<const int> of = {};
};

/// Scaled dot-product attention of one input. A row of queries holds all heads, heads * size
/// numbers; a row of keys or values groups * size. Head h uses group h / (heads / groups).
struct Attention {
  MatrixView queries;  // m x (heads * size)
  MatrixView keys;     // n x (groups * size)
  MatrixView values;   // as keys
  int heads = 1;
  int groups = 1;
  float scale = 1;
  Sight sight;
  /// heads x (2 n - 1): what the distance between a query at position i and key j adds to their
  /// score, in column j - i + n - 1. Without rows, nothing is added.
  MatrixView distances = {};
  /// Before that, a score s becomes cap * tanh(s / cap); 0: it stays as it is.
  float cap = 0;
  Buckets buckets = {};  // not together with a cap
};

/// How heads are fused into one map: reduce over heads first_head ... first_head + count - 1 of
/// weight * softmax.
struct HeadMap {
  Reduce reduce = Reduce::sum;
  float weight = 1;
  int first_head = 0;
  int count = 1;
  MatrixSpan map;  // m x n, 0 for keys that a row does not see; without rows, no map is made
};

/// out(r, h * size + d) = sum over j of p_h(r, j) v(j, d) with p_h = softmax over the keys j that
/// row r sees of scale q_h(r) . k_h(j), capped, plus distances and buckets, and the fused map of p
/// in the same pass. If `out` has no rows, only the map is made and `values` are not read. A row
/// that sees a score of NaN becomes NaN in that head, and in a map of sums. Each thread holds a few
/// rows of scores at a time; heads x m x n never exists. Several threads, the same bytes for any
/// number; rows do not depend on one another.
void attention(const Attention& attention, MatrixSpan out, const HeadMap& fused);

/// One implementation of the above, as part of Kernels (kernel.h). linear and attention use several
/// threads; the others get some of the rows in each call.
struct NetworkKernels {
  void (*linear)(MatrixView x, const Weights& weights, const Finish& finish, MatrixSpan out);
  void (*activate)(MatrixView x, Activation activation, MatrixSpan out);
  void (*layer_norm)(MatrixView x, std::span<const float> weight, std::span<const float> bias,
                     double epsilon, MatrixSpan out);
  void (*rms_norm)(MatrixView x, std::span<const float> weight, double epsilon, MatrixSpan out);
  void (*rotate)(MatrixSpan x, int heads, MatrixView cosine, MatrixView sine);
  void (*attention)(const Attention& attention, MatrixSpan out, const HeadMap& fused);
};

}  // namespace headwater::kernel
