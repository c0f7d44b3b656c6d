// Passes rows through a layer without its map: out[r, j] = sum_i weights[r, i] fuse_h exp(s_hij - lse_hi).
// With STAY keys, a block takes a tile of keys and loops over the queries that see them. With STAY queries,
// the kernel computes the sum of each row of the fused map: out[0, i] = sum_j fuse_h exp(s_hij - lse_hi).
//
// For the mean, each of `splits` blocks takes some heads, one after another, and writes a sum of its
// own. Nothing is added in memory, so the bits are the same every time. Maximum and minimum need all
// heads of a place at once, so the heads are the inner loop, and there is one split.
// Blocks: splits x tiles of keys x items. Macros: ROWS; FUSE 0 sum, 1 maximum, 2 minimum; STAY 0 keys, 1
// queries.
#include "scores.cuh"
#include "tile.cuh"

using namespace headwater::kernel::cuda;

namespace {

// One step of a block: a head, and a tile of the side that moves.
struct Step {
  int head, first;
};

struct Walk {
  int head_begin, heads, begin, tiles;

  __device__ int steps() const { return heads * tiles; }
  __device__ Step at(int step) const {
#if FUSE == 0
    return {head_begin + step / tiles, begin + step % tiles * tile_columns};
#else
    return {head_begin + step % heads, begin + step / heads * tile_columns};
#endif
  }
};

struct Shared {
  Element* stay;
  Element* move;                 // two tiles
  float (*lse)[tile_columns];            // two, of the queries that move
  float (*weights)[ROWS][tile_columns];  // two
};

__device__ Walk walk_of(const Arguments& a, int first) {
  Walk walk;
  walk.head_begin = a.head_begin + blockIdx.x * a.heads_per_split;
  walk.heads = min(a.heads_per_split, a.head_end - walk.head_begin);
  int begin, end;
#if STAY == 0
  queries_of(a, first, min(first + tile_rows, a.keys), begin, end);
#else
  keys_of(a, first, min(first + tile_rows, a.queries), begin, end);
#endif
  walk.begin = begin / tile_columns * tile_columns;
  walk.tiles = end > begin ? (end - walk.begin + tile_columns - 1) / tile_columns : 0;
  return walk;
}

__device__ void load_stay(const Arguments& a, const Shared& in, int head, int first) {
#if STAY == 0
  load_tile<tile_rows>(in.stay, static_cast<const Element*>(a.k) + head / a.group * a.k_head,
                       a.k_row, first, a.keys);
#else
  load_tile<tile_rows>(in.stay, static_cast<const Element*>(a.q) + head * a.q_head, a.q_row, first,
                       a.queries);
#endif
}

__device__ void load_move(const Arguments& a, const Shared& in, int stage, Step step) {
#if STAY == 0
  load_tile<tile_columns>(in.move + stage * tile_columns * row_size,
                          static_cast<const Element*>(a.q) + step.head * a.q_head, a.q_row,
                          step.first, a.queries);
  for (int x = threadIdx.x; x < tile_columns; x += threads) {
    const int query = step.first + x;
    const bool there = query < a.queries;
    in.lse[stage][x] = there ? a.lse[step.head * a.lse_head + query] * log2_e : infinity();
    for (int r = 0; r < ROWS; ++r)
      in.weights[stage][r][x] = there ? a.weights[r * a.weights_row + query] : 0.f;
  }
#else
  load_tile<tile_columns>(in.move + stage * tile_columns * row_size,
                          static_cast<const Element*>(a.k) + step.head / a.group * a.k_head, a.k_row,
                          step.first, a.keys);
#endif
}

__device__ bool same_stay(const Arguments& a, int head, int other) {
  return STAY == 0 ? head / a.group == other / a.group : head == other;
}

// Turns products into probabilities.
__device__ void probabilities(const Arguments& a, const Shared& in, int stage, Step step,
                              int first, float (&products)[8][4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = first + threadIdx.x / 32 * 16 + g;
  const int q0 = STAY == 0 ? step.first : first, k0 = STAY == 0 ? first : step.first;
  constexpr int q = STAY == 0 ? tile_columns : tile_rows, k = STAY == 0 ? tile_rows : tile_columns;
  const bool whole = all_see(a, q0, q0 + q, k0, k0 + k);
#pragma unroll
  for (int c = 0; c < 8; ++c)
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int stays = row + x / 2 * 8, column = c * 8 + 2 * t + x % 2, moves = step.first + column;
      const int query = STAY == 0 ? moves : stays, key = STAY == 0 ? stays : moves;
#if STAY == 0
      const float lse = in.lse[stage][column];
#else
      const float lse =
          query < a.queries ? a.lse[step.head * a.lse_head + query] * log2_e : infinity();
#endif
      const float s = score(a, products[c][x], step.head, query, key) * log2_e;
      products[c][x] = whole || exists(a, query, key) ? exp2_of(s - lse) : 0.f;
    }
}

// Adds a tile of fused probabilities to the sums of the rows that stay. The tile is summed first: long
// sums of floats lose less in two steps.
__device__ void add(const Shared& in, int stage, const float (&fused)[8][4], float (&sums)[ROWS][2]) {
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float tile[2] = {};
#pragma unroll
    for (int c = 0; c < 8; ++c)
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const float weight = STAY == 0 ? in.weights[stage][r][c * 8 + 2 * t + x % 2] : 1.f;
        tile[x / 2] = fmaf(fused[c][x], weight, tile[x / 2]);
      }
    sums[r][0] += tile[0];
    sums[r][1] += tile[1];
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads) row(const Arguments all) {
  const Arguments a = of_item(all);
  extern __shared__ __align__(16) unsigned char memory[];
  Shared in;
  in.stay = reinterpret_cast<Element*>(memory);
  in.move = in.stay + tile_rows * row_size;
  in.lse = reinterpret_cast<float(*)[tile_columns]>(in.move + 2 * tile_columns * row_size);
  in.weights = reinterpret_cast<float(*)[ROWS][tile_columns]>(in.lse + 2);
  const int first = blockIdx.y * tile_rows;
  const Walk walk = walk_of(a, first);
  const int steps = walk.steps();

  float sums[ROWS][2] = {};
  if (steps > 0) {
    load_stay(a, in, walk.at(0).head, first);
    load_move(a, in, 0, walk.at(0));
  }
#if FUSE != 0
  float fused[8][4];
#endif
  for (int k = 0; k < steps; ++k) {
    const Step step = walk.at(k), next = walk.at(k + 1 < steps ? k + 1 : k);
    const int stage = k % 2;
    wait_for_tiles();
    if (k + 1 < steps) load_move(a, in, stage ^ 1, next);
    float products[8][4] = {};
    multiply(in.stay, in.move + stage * tile_columns * row_size, products);
    if (!same_stay(a, step.head, next.head)) {
      __syncthreads();
      load_stay(a, in, next.head, first);
    }
    probabilities(a, in, stage, step, first, products);
#if FUSE == 0
    add(in, stage, products, sums);
#else
#pragma unroll
    for (int x = 0; x < 32; ++x) {
      float& one = fused[x / 4][x % 4];
      const float more = products[x / 4][x % 4];
      const bool better = FUSE == 1 ? more > one : more < one;
      if (step.head == walk.head_begin || better || more != more) one = more;  // NaN stays NaN
    }
    if (step.head == walk.head_begin + walk.heads - 1) add(in, stage, fused, sums);
#endif
  }

  const int t = threadIdx.x % 4, row = first + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int lower = 0; lower < 2; ++lower) {
      float sum = sums[r][lower];
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      const int place = row + 8 * lower;
      if (t == 0 && place < (STAY == 0 ? a.keys : a.queries))
        a.out[blockIdx.x * a.out_split + r * a.out_row + place] = sum;
    }
}
