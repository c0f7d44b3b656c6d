// What the kernels of this folder are given. Both compilers read this file, so it includes nothing.
#pragma once

namespace headwater::kernel::cuda {

/// A mask or a bias of the scores, [heads, queries, keys]; a stride of 0 repeats an axis.
struct Added {
  enum Kind { none, seen, float32, bfloat16, float16 };  // seen: one byte, 0 hides a key
  const void* data;
  long long head, query, key;  // strides, in numbers
  int kind;
};

/// From one item of a batch to the next, in bytes; 0 repeats what there is.
struct Items {
  long long q, k, lse, weights, out, mask, bias;
};

/// One layer of one text, or of a batch of texts of one length: queries [heads, queries, size] and
/// keys [heads / group, keys, size] whose last axis is contiguous. Query i stands at key first + i.
struct Arguments {
  const void *q, *k;
  long long q_head, q_row, k_head, k_row;  // strides, in numbers
  float* lse;                              // [heads, queries], natural logarithms
  long long lse_head;
  const float* sinks;    // [heads], or null
  const float* weights;  // [rows, queries]
  long long weights_row;
  float* out;  // [splits, rows, keys]
  long long out_split, out_row;
  long long out_part;  // of a map of pairs: the distance from high to low parts
  float residual;      // of a map: (1 - residual) F + residual I
  int queries, keys, first;
  int query_begin, query_end;  // the queries that have weights other than 0
  int head_begin, head_end, heads_per_split, group;
  int causal, window;
  float scale, softcap;
  Added mask, bias;
  Items items;
};

/// What some rows are after a layer: share times the sum of `parts`, and residual times `weights`.
struct Total {
  const float *parts, *weights;  // [items, splits, count], [items, count]
  float* out;                    // [items, count]
  long long count;
  int splits;
  float share, residual;
};

/// A product of [rows, n] and [n, n], for a kernel that copies both by maps of their tiles.
/// `lower`: the left matrix has rows first ... of a lower triangular one, the right one is lower
/// triangular, and so is the product.
struct Product {
  void* out;  // [rows, n], float32 or pairs
  long long out_row, out_part;
  int n, rows, first, lower;
};

}  // namespace headwater::kernel::cuda
