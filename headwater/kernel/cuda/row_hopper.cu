// row.cu with Hopper's own instructions, for the mean of heads or one head, with 16-bit queries and
// keys and no mask but causal and window.
//
// A block takes 256 keys of one head. Two groups of four warps hold 128 of them each, in registers,
// as two blocks of 64; one more warp copies tiles of queries with the copy engine, a few tiles ahead.
// While the matrix units multiply one block of 64 keys, the warps exponentiate and add up the other.
// On this chip, both take about the same time. Blocks: heads x ceil(keys / 256). Macros: see hopper.cuh;
// SIZE 64 or 128; ROWS; STAGES.
#define EXTRA 0
#include "hopper.cuh"
#include "scores.cuh"

using namespace headwater::kernel::cuda;

namespace {

constexpr int keys_per_block = 256, consumers = 256, copiers = 128;  // only one warp of these copies
constexpr int box_bytes = TILE * 128, boxes = SIZE / 64, tile_bytes = box_bytes * boxes;

struct Shared {
  unsigned char tiles[STAGES][tile_bytes];
  float lse[STAGES][TILE];
  float weights[STAGES][ROWS][TILE];
  unsigned long long full[STAGES], empty[STAGES];
};

__device__ void copy_tiles(const Arguments& a, const TensorMap& queries, Shared& in, int head,
                           int begin, int end) {
  const int lane = threadIdx.x % 32;
  Place at;
  for (int first = begin; first < end; first += TILE, at.next()) {
    float lse[TILE / 32], weights[ROWS][TILE / 32];
#pragma unroll
    for (int x = 0; x < TILE / 32; ++x) {
      const int query = first + x * 32 + lane;
      const bool there = query < a.queries;
      lse[x] = there ? a.lse[head * a.lse_head + query] * log2_e : infinity();
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
        weights[r][x] = there ? a.weights[r * a.weights_row + query] : 0.f;
    }
    wait_for(address(&in.empty[at.stage]), at.round ^ 1);
    const unsigned full = address(&in.full[at.stage]);
    if (lane == 0) {
      arrive_expecting(full, tile_bytes);
#pragma unroll
      for (int box = 0; box < boxes; ++box)
        copy_box(address(in.tiles[at.stage] + box * box_bytes), &queries, full, box * 64, first, head);
    }
#pragma unroll
    for (int x = 0; x < TILE / 32; ++x) {
      in.lse[at.stage][x * 32 + lane] = lse[x];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) in.weights[at.stage][r][x * 32 + lane] = weights[r][x];
    }
    arrive(full);
  }
}

// 64 keys as the matrix units take them: rows g and g + 8 of a warp's 16.
__device__ void load_keys(const Arguments& a, int head, int first, unsigned (&to)[SIZE / 16][4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, warp = threadIdx.x / 32 % 4;
  const unsigned short* keys = static_cast<const unsigned short*>(a.k) + head / a.group * a.k_head;
#pragma unroll
  for (int lower = 0; lower < 2; ++lower) {
    const int key = first + warp * 16 + g + 8 * lower;
    const unsigned short* row = keys + key * a.k_row + 2 * t;
#pragma unroll
    for (int k = 0; k < SIZE / 16; ++k)
#pragma unroll
      for (int right = 0; right < 2; ++right)
        to[k][lower + 2 * right] =
            key < a.keys ? *reinterpret_cast<const unsigned*>(row + k * 16 + right * 8) : 0u;
  }
}

__device__ void begin(float (&products)[TILE / 2], const unsigned (&keys)[SIZE / 16][4],
                      unsigned tile) {
  begin_products();
  multiply_tile<0>(products, keys[0], describe(tile));
#pragma unroll
  for (int k = 1; k < SIZE / 16; ++k)
    multiply_tile<1>(products, keys[k], describe(tile + k / 4 * box_bytes + k % 4 * 32));
  end_products();
}

// Adds the products of 64 keys and a tile of queries to the keys' sums.
template <bool whole>
__device__ void add(const Arguments& a, const float (&products)[TILE / 2], const float* lses,
                    const float (*weights)[TILE], float scale, int key, int first,
                    float (&sums)[ROWS][2]) {
  const int t = threadIdx.x % 4;
  int begin[2] = {}, end[2] = {};  // the queries that see the two keys
  if (!whole) {
    queries_of(a, key, key + 1, begin[0], end[0]);
    queries_of(a, key + 8, key + 9, begin[1], end[1]);
  }
  float tile[ROWS][2] = {};
#pragma unroll
  for (int c = 0; c < TILE / 8; ++c) {
    const int column = c * 8 + 2 * t;
    const float2 lse = *reinterpret_cast<const float2*>(lses + column);
    float p[4];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      p[x] = exp2_of(fmaf(products[4 * c + x], scale, x % 2 == 0 ? -lse.x : -lse.y));
      const int query = first + column + x % 2;
      if (!whole) p[x] = query >= begin[x / 2] & query < end[x / 2] ? p[x] : 0.f;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float2 weight = *reinterpret_cast<const float2*>(weights[r] + column);
      tile[r][0] = fmaf(p[1], weight.y, fmaf(p[0], weight.x, tile[r][0]));
      tile[r][1] = fmaf(p[3], weight.y, fmaf(p[2], weight.x, tile[r][1]));
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    sums[r][0] += tile[r][0];
    sums[r][1] += tile[r][1];
  }
}

__device__ void add_tile(const Arguments& a, const float (&products)[TILE / 2], const Shared& in,
                         int stage, float scale, int key_block, int first, float (&sums)[ROWS][2]) {
  const int key = key_block + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
  int begin, end, more;  // the queries that see all keys: from where the last key begins to where the first ends
  queries_of(a, key_block + 63, key_block + 64, begin, more);
  queries_of(a, key_block, key_block + 1, more, end);
  if (first >= begin && first + TILE <= end)
    add<true>(a, products, in.lse[stage], in.weights[stage], scale, key, first, sums);
  else
    add<false>(a, products, in.lse[stage], in.weights[stage], scale, key, first, sums);
}

__device__ void write(const Arguments& a, int head, int key_block, const float (&sums)[ROWS][2]) {
  const int key = key_block + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int lower = 0; lower < 2; ++lower) {
      float sum = sums[r][lower];
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      if (threadIdx.x % 4 == 0 && key + 8 * lower < a.keys)
        a.out[(head - a.head_begin) * a.out_split + r * a.out_row + key + 8 * lower] = sum;
    }
}

__device__ void sum_tiles(const Arguments& a, Shared& in, int head, int first_key, int begin_query,
                          int end) {
  const float scale = a.scale * log2_e;
  unsigned keys[2][SIZE / 16][4];
  load_keys(a, head, first_key, keys[0]);
  load_keys(a, head, first_key + 64, keys[1]);
  float products[2][TILE / 2], sums[2][ROWS][2] = {};
  Place at;
  int first = begin_query;
  // Two tiles at a time: three of four blocks are then exponentiated while others are multiplied.
  for (; first + TILE < end; first += 2 * TILE, at.next()) {
    const int one = at.stage;
    wait_for(address(&in.full[one]), at.round);
    begin(products[0], keys[0], address(in.tiles[one]));
    begin(products[1], keys[1], address(in.tiles[one]));
    wait_for_products<1>(products[0]);
    add_tile(a, products[0], in, one, scale, first_key, first, sums[0]);
    at.next();
    wait_for(address(&in.full[at.stage]), at.round);
    begin(products[0], keys[0], address(in.tiles[at.stage]));
    wait_for_products<1>(products[1]);
    add_tile(a, products[1], in, one, scale, first_key + 64, first, sums[1]);
    arrive(address(&in.empty[one]));  // done with this tile
    begin(products[1], keys[1], address(in.tiles[at.stage]));
    wait_for_products<1>(products[0]);
    add_tile(a, products[0], in, at.stage, scale, first_key, first + TILE, sums[0]);
    wait_for_products<0>(products[1]);
    add_tile(a, products[1], in, at.stage, scale, first_key + 64, first + TILE, sums[1]);
    arrive(address(&in.empty[at.stage]));
  }
  if (first < end) {
    wait_for(address(&in.full[at.stage]), at.round);
    begin(products[0], keys[0], address(in.tiles[at.stage]));
    begin(products[1], keys[1], address(in.tiles[at.stage]));
    wait_for_products<1>(products[0]);
    add_tile(a, products[0], in, at.stage, scale, first_key, first, sums[0]);
    wait_for_products<0>(products[1]);
    add_tile(a, products[1], in, at.stage, scale, first_key + 64, first, sums[1]);
  }
  write(a, head, first_key, sums[0]);
  write(a, head, first_key + 64, sums[1]);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(consumers + copiers, 1)
    row_hopper(const __grid_constant__ Arguments a, const __grid_constant__ TensorMap queries) {
  extern __shared__ unsigned char memory[];
  // The swizzle of the copy engine repeats every 1024 bytes.
  Shared& in = *reinterpret_cast<Shared*>(memory + (1024 - address(memory) % 1024) % 1024);
  const int head = a.head_begin + blockIdx.x, first_key = blockIdx.y * keys_per_block;
  int begin, end;
  queries_of(a, first_key, min(first_key + keys_per_block, a.keys), begin, end);
  begin = begin / TILE * TILE;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      make_barrier(address(&in.full[stage]), 32 + 1);
      make_barrier(address(&in.empty[stage]), consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  // The warps that copy give registers to those that compute.
  if (threadIdx.x >= consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x < consumers + 32) copy_tiles(a, queries, in, head, begin, end);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    sum_tiles(a, in, head, first_key + threadIdx.x / 128 * 128, begin, end);
  }
}
