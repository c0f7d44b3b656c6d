// One layer of attention on a GPU, for 16-bit and 32-bit queries and keys that PyTorch holds: of
// one text, or of several of the same length at once.
//
//   F[i, j] = fuse_h exp(s_hij - lse_hi),  lse_hi = log sum_j exp(s_hij)
//
// row() multiplies rows by F without making it, in linear memory; map() makes it, all heads in one
// pass. Both take heads x queries x keys x size operations, half of that for causal attention.
// Nothing is added atomically: the same input gives the same bits every time. The kernels are the
// .cu files of this folder.
#pragma once
#include "headwater/kernel/cuda/arguments.h"
#include "headwater/kernel/cuda/pairs.h"
#include "headwater/kernel/maps.h"

namespace headwater::kernel::cuda {

enum class Number { bfloat16, float16, float32 };

/// Up to this many rows go through a layer in one launch.
inline constexpr int most_rows = 8;

/// Heads begin ... end - 1, and how they are fused.
struct Fused {
  Reduce how = Reduce::sum;
  int begin = 0, end = 0;
};

/// One layer on one device; of a batch, [items] comes before the axes of what is given and written.
/// The caller owns all memory, which is on that device, and keeps it until the stream has run the
/// launches. `arguments` holds what describes the layer; the functions set the rest. They throw
/// Error if a kernel cannot be compiled or started.
struct Layer {
  int device = 0;
  Number number = Number::bfloat16;
  int size = 0;   // of a head
  int heads = 0;  // of the queries
  int items = 1;
  void* stream = nullptr;
  Arguments arguments = {};

  /// Writes lse [heads, queries] for all heads.
  void log_sum_exp(float* lse) const;

  /// How many sums row() writes for each number: the splits of `parts`.
  int splits(const Fused& fused, int rows) const;

  struct Rows {
    int count = 1;                   // at most most_rows
    const float* weights = nullptr;  // v [count, queries]
    int begin = 0, end = 0;          // the queries that have weights other than 0
    float* parts = nullptr;          // [splits, count, keys]
  };
  /// The parts of v F. With Reduce::sum, F has the sum of the heads, not their mean.
  void row(const Fused& fused, const float* lse, const Rows& rows) const;

  /// v ((1 - residual) F + residual I), where Reduce::sum is the mean: out [count, keys]. Needs as
  /// many keys as queries.
  void through(const Fused& fused, const float* lse, const Rows& rows, float residual,
               float* out) const;

  /// The sum of each row of F, for maximum and minimum of all heads: out [queries]. Of one item.
  void row_sums(Reduce how, const float* lse, float* out) const;

  /// Rows begin ... end - 1 of (1 - residual) F + residual I, where Reduce::sum gives the mean: out
  /// [end - begin, keys].
  void map(const Fused& fused, const float* lse, int begin, int end, float residual,
           float* out) const;

  /// The same rows, columns 0 ... columns - 1 of them, as pairs. Of one item.
  void map_pairs(const Fused& fused, const float* lse, int begin, int end, int columns,
                 float residual, const Pairs& out) const;
};

}  // namespace headwater::kernel::cuda
