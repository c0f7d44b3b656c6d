// The fused map of all heads in one pass: F[i, j] = fuse_h exp(s_hij - lse_hi), and out =
// (1 - residual) F + residual I.
//
// A block computes one tile of the map and loops over the heads, so heads x n x n numbers never exist.
// Tiles above the diagonal of a causal map are written as zeros. Blocks: key tiles x query tiles x
// items. Macros: FUSE 0 mean, 1 maximum, 2 minimum; PAIRS 1 writes pairs, 0 float32.
#include "pairs.cuh"
#include "scores.cuh"
#include "tile.cuh"

using namespace headwater::kernel::cuda;

namespace {

constexpr int query_tile = tile_rows * row_size, key_tile = tile_columns * row_size;

__device__ void load_head(const Arguments& a, Element* queries, Element* keys, int head, int q0,
                          int k0, bool with_keys) {
  load_tile<tile_rows>(queries, static_cast<const Element*>(a.q) + head * a.q_head, a.q_row, q0,
                       a.queries);
  if (with_keys)
    load_tile<tile_columns>(keys, static_cast<const Element*>(a.k) + head / a.group * a.k_head,
                            a.k_row, k0, a.keys);
}

__device__ float mixed(const Arguments& a, float value, int query, int key) {
  return (1 - a.residual) * value + (key == a.first + query ? a.residual : 0.f);
}

__device__ void write(const Arguments& a, int query, int key, float left, float right) {
  if (query >= a.query_end || key >= a.keys) return;
  left = mixed(a, left, query, key);
  right = mixed(a, right, query, key + 1);
  const long long at = (query - a.query_begin) * a.out_row + key;
#if PAIRS
  write_pairs(reinterpret_cast<unsigned short*>(a.out) + at, a.out_part, left, right);
#else
  write_floats(a.out + at, left, right, key + 1 < a.keys, a.out_row);
#endif
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads) map(const Arguments all) {
  const Arguments a = of_item(all);
  extern __shared__ __align__(16) unsigned char memory[];
  Element* const queries = reinterpret_cast<Element*>(memory);  // two tiles
  Element* const keys = queries + 2 * query_tile;               // two tiles
  const int q0 = a.query_begin + blockIdx.y * tile_rows, k0 = blockIdx.x * tile_columns;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = q0 + threadIdx.x / 32 * 16 + g;
  int begin, end;
  keys_of(a, q0, min(q0 + tile_rows, a.query_end), begin, end);
  const bool any = k0 < end && k0 + tile_columns > begin;
  const bool whole = all_see(a, q0, q0 + tile_rows, k0, k0 + tile_columns);

  float fused[8][4] = {};
  if (any) load_head(a, queries, keys, a.head_begin, q0, k0, true);
  int key_stage = 0;
  for (int head = a.head_begin; any && head < a.head_end; ++head) {
    const int stage = (head - a.head_begin) % 2;
    wait_for_tiles();
    const bool new_keys = (head + 1) / a.group != head / a.group;
    if (head + 1 < a.head_end)
      load_head(a, queries + (stage ^ 1) * query_tile, keys + (key_stage ^ 1) * key_tile, head + 1, q0,
                k0, new_keys);
    float products[8][4] = {};
    multiply(queries + stage * query_tile, keys + key_stage * key_tile, products);
    if (new_keys) key_stage ^= 1;
    float lse[2];
#pragma unroll
    for (int lower = 0; lower < 2; ++lower)
      lse[lower] = row + 8 * lower < a.queries ? a.lse[head * a.lse_head + row + 8 * lower] * log2_e
                                               : infinity();
#pragma unroll
    for (int c = 0; c < 8; ++c)
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const int query = row + x / 2 * 8, key = k0 + c * 8 + 2 * t + x % 2;
        const float s = score(a, products[c][x], head, query, key) * log2_e;
        const float p = whole || exists(a, query, key) ? exp2_of(s - lse[x / 2]) : 0.f;
        float& one = fused[c][x];
#if FUSE == 0
        one += p;
#else
        const bool better = FUSE == 1 ? p > one : p < one;
        if (head == a.head_begin || better || p != p) one = p;  // NaN stays NaN
#endif
      }
  }
  const float share = FUSE == 0 ? 1.f / (a.head_end - a.head_begin) : 1.f;
#pragma unroll
  for (int c = 0; c < 8; ++c)
#pragma unroll
    for (int lower = 0; lower < 2; ++lower)
      write(a, row + 8 * lower, k0 + c * 8 + 2 * t, fused[c][2 * lower] * share,
            fused[c][2 * lower + 1] * share);
}
