// lse[h, i] = log sum_j exp(s_hij), with a sink s_h: log(exp(s_h) + sum_j exp(s_hij)).
//
// A block takes some queries of one head and loops over the keys that they see. Each thread keeps the
// largest score so far, and the sum relative to it, for its own columns. At the end, the four threads
// of a row combine theirs. Blocks: heads x query tiles x items.
#include "scores.cuh"
#include "tile.cuh"

using namespace headwater::kernel::cuda;

namespace {

// A sum of exponentials, as 2^top sum.
struct Sum {
  float top = -infinity(), sum = 0;

  __device__ void take(float more_top, float more_sum) {
    const float both = fmaxf(top, more_top);
    if (both == -infinity()) return;
    sum = sum * exp2_of(top - both) + more_sum * exp2_of(more_top - both);
    top = both;
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(threads) log_sum_exp(const Arguments all) {
  const Arguments a = of_item(all);
  extern __shared__ __align__(16) unsigned char memory[];
  Element* const stay = reinterpret_cast<Element*>(memory);
  Element* const move = stay + tile_rows * row_size;
  const int head = a.head_begin + blockIdx.x, first_query = blockIdx.y * tile_rows;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int row = first_query + threadIdx.x / 32 * 16 + g;
  const Element* keys = static_cast<const Element*>(a.k) + head / a.group * a.k_head;
  int begin, end;
  keys_of(a, first_query, min(first_query + tile_rows, a.queries), begin, end);
  begin = begin / tile_columns * tile_columns;

  load_tile<tile_rows>(stay, static_cast<const Element*>(a.q) + head * a.q_head, a.q_row, first_query,
            a.queries);
  if (begin < end) load_tile<tile_columns>(move, keys, a.k_row, begin, a.keys);
  Sum sums[2];
  int stage = 0;
  for (int key = begin; key < end; key += tile_columns, stage ^= 1) {
    wait_for_tiles();
    if (key + tile_columns < end)
      load_tile<tile_columns>(move + (stage ^ 1) * tile_columns * row_size, keys, a.k_row,
                              key + tile_columns, a.keys);
    float products[8][4] = {};
    multiply(stay, move + stage * tile_columns * row_size, products);
    const bool whole = all_see(a, first_query, first_query + tile_rows, key, key + tile_columns);
#pragma unroll
    for (int lower = 0; lower < 2; ++lower) {
      const int query = row + 8 * lower;
      float scores[16], top = -infinity();
#pragma unroll
      for (int c = 0; c < 16; ++c) {
        const int j = key + c / 2 * 8 + 2 * t + c % 2;
        const float s = score(a, products[c / 2][2 * lower + c % 2], head, query, j) * log2_e;
        scores[c] = whole || exists(a, query, j) ? s : -infinity();
        top = fmaxf(top, scores[c]);
      }
      if (top == -infinity()) continue;
      float sum = 0;
#pragma unroll
      for (int c = 0; c < 16; ++c) sum += exp2_of(scores[c] - top);
      sums[lower].take(top, sum);
    }
  }
#pragma unroll
  for (int lower = 0; lower < 2; ++lower) {
    Sum& sum = sums[lower];
#pragma unroll
    for (int apart = 1; apart < 4; apart *= 2) {
      const float top = __shfl_xor_sync(~0u, sum.top, apart);
      sum.take(top, __shfl_xor_sync(~0u, sum.sum, apart));
    }
    if (a.sinks != nullptr) sum.take(a.sinks[head] * log2_e, 1);
    const int query = row + 8 * lower;
    if (t == 0 && query < a.queries)
      a.lse[head * a.lse_head + query] = (sum.top + log2f(sum.sum)) * ln_2;
  }
}
