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

/// One layer of one text: queries [heads, queries, size] and keys [heads / group, keys, size] whose
/// last axis is contiguous. Query i stands at key first + i.
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
  int queries, keys, first;
  int query_begin, query_end;  // the queries that have weights other than 0
  int head_begin, head_end, heads_per_split, group;
  int causal, window;
  float scale, softcap;
  Added mask, bias;
};

}  // namespace headwater::kernel::cuda
