// The product of two matrices of pairs, out = left right, with Hopper's matrix units and copy engine.
//
// (h + l)(h' + l') is h h' + h l' + l h' plus l l', which is at most 2^-18 of it and is left out: three
// products of bfloat16, summed in float32. Matrix units truncate instead of rounding, so each of their
// sums covers 512 numbers only; these sums are then added with rounding.
//
// A block computes a tile of 128 x 128. Two groups of four warps compute 64 rows of it each; one more
// warp copies the parts of both matrices ahead of them. Zeros of triangular matrices are not read, and
// tiles above the diagonal are not written. Blocks: 16 x ceil(n / 128) x ceil(rows / 2048), in an order
// in which blocks that run at the same time share what they read. Macros: STAGES; PAIRS 1 writes pairs,
// 0 float32.
#define ELEMENT 0
#define TILE 128
#include "arguments.h"
#include "hopper.cuh"
#include "pairs.cuh"

using namespace headwater::kernel::cuda;

namespace {

constexpr int depth = 64, sum_length = 512, consumers = 256, copiers = 128;  // only one warp of these copies
constexpr int part_bytes = TILE * depth * 2, row_groups = 16;

struct Shared {
  unsigned char left[STAGES][2][part_bytes], right[STAGES][2][part_bytes];
  unsigned long long full[STAGES], empty[STAGES];
};

// A tile of the product, and the range that it sums over: k = begin ... end - 1.
struct Tile {
  int row, column, begin, end;
};

__device__ void copy_tiles(const TensorMap& left, const TensorMap& right, Shared& in, const Tile& tile) {
  Place at;
  for (int k = tile.begin; k < tile.end; k += depth, at.next()) {
    wait_for(address(&in.empty[at.stage]), at.round ^ 1);
    const unsigned full = address(&in.full[at.stage]);
    arrive_expecting(full, 4 * part_bytes);
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const unsigned rights = address(in.right[at.stage][part]);
      copy_box(address(in.left[at.stage][part]), &left, full, k, tile.row, part);
      copy_box(rights, &right, full, tile.column, k, part);
      copy_box(rights + part_bytes / 2, &right, full, tile.column + 64, k, part);
    }
  }
}

// Describes rows of the right matrix, 64 columns (128 bytes) each, as the copy engine swizzles them.
// The next 64 columns are half a part further on.
__device__ unsigned long long describe_columns(unsigned address) {
  constexpr unsigned long long swizzle_128_bytes = 1ull << 62, eight_rows = 1024 >> 4,
                               next_columns = part_bytes / 2 >> 4;
  return swizzle_128_bytes | eight_rows << 32 | next_columns << 16 | (address & 0x3ffff) >> 4;
}

// c = a b (sums = 0) or c += a b: 64 rows, 128 columns, sums over 16 numbers.
__device__ void multiply_parts(float (&c)[TILE / 2], unsigned long long a, unsigned long long b, int sums) {
  asm volatile(
      "{\n"
      ".reg .pred sum;\n"
      "setp.ne.b32 sum, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, sum, 1, 1, 0, 1;\n"
      "}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
      "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]),
      "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]),
      "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
      "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),
      "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]),
      "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]),
      "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]),
      "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]),
      "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]),
      "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
      : "l"(a), "l"(b), "r"(sums));
}

__device__ void multiply_stage(float (&sums)[TILE / 2], const Shared& in, int stage, bool first) {
  const unsigned rows = threadIdx.x / 128 * (part_bytes / 2);
  const unsigned lefts[2] = {address(in.left[stage][0]) + rows, address(in.left[stage][1]) + rows};
  const unsigned rights[2] = {address(in.right[stage][0]), address(in.right[stage][1])};
  begin_products();
#pragma unroll
  for (int k = 0; k < depth / 16; ++k) {
    const unsigned across = k * 32, down = k * 16 * 128;
    multiply_parts(sums, describe(lefts[0] + across), describe_columns(rights[1] + down), k > 0 || !first);
    multiply_parts(sums, describe(lefts[1] + across), describe_columns(rights[0] + down), 1);
    multiply_parts(sums, describe(lefts[0] + across), describe_columns(rights[0] + down), 1);
  }
  end_products();
}

__device__ void write(const Product& p, const Tile& tile, const float (&total)[TILE / 2]) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int c = 0; c < TILE / 8; ++c)
#pragma unroll
    for (int lower = 0; lower < 2; ++lower) {
      const int row = tile.row + warp * 16 + lane / 4 + 8 * lower;
      const int column = tile.column + c * 8 + lane % 4 * 2;
      if (row >= p.rows || column >= p.n) continue;
      const float left = total[4 * c + 2 * lower], right = total[4 * c + 2 * lower + 1];
      const long long at = row * p.out_row + column;
#if PAIRS
      write_pairs(static_cast<unsigned short*>(p.out) + at, p.out_part, left, right);
#else
      write_floats(static_cast<float*>(p.out) + at, left, right, column + 1 < p.n, p.out_row);
#endif
    }
}

__device__ void multiply_tiles(const Product& p, Shared& in, const Tile& tile) {
  float sums[TILE / 2], total[TILE / 2] = {};
  Place at;
  for (int k = tile.begin; k < tile.end;) {
    const int begin = k, end = min(tile.end, begin + sum_length);
    int before = 0;
    for (; k < end; k += depth, at.next()) {
      wait_for(address(&in.full[at.stage]), at.round);
      multiply_stage(sums, in, at.stage, k == begin);
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // done with the previous tile
      if (k > begin) arrive(address(&in.empty[before]));
      before = at.stage;
    }
    wait_for_products<0>(sums);
    arrive(address(&in.empty[before]));
#pragma unroll
    for (int x = 0; x < TILE / 2; ++x) total[x] += sums[x];
  }
  write(p, tile, total);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(consumers + copiers, 1)
    product_hopper(const __grid_constant__ Product p, const __grid_constant__ TensorMap left,
                   const __grid_constant__ TensorMap right) {
  extern __shared__ unsigned char memory[];
  // The swizzle of the copy engine repeats every 1024 bytes.
  Shared& in = *reinterpret_cast<Shared*>(memory + (1024 - address(memory) % 1024) % 1024);
  // In a triangle, the longest sums run first.
  const int row = ((gridDim.z - 1 - blockIdx.z) * row_groups + blockIdx.x) * TILE, column = blockIdx.y * TILE;
  if (row >= p.rows || (p.lower && column >= p.first + row + TILE)) return;
  const Tile tile = {row, column, p.lower ? column : 0, p.lower ? min(p.n, p.first + row + TILE) : p.n};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      make_barrier(address(&in.full[stage]), 1);
      make_barrier(address(&in.empty[stage]), consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  // The warps that copy give registers to those that compute.
  if (threadIdx.x >= consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == consumers) copy_tiles(left, right, in, tile);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    multiply_tiles(p, in, tile);
  }
}
