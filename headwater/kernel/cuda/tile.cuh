// Tiles of products q k: each warp has 16 rows and all 64 columns. A thread has rows g and g + 8, and
// columns 2t and 2t + 1 of every eight (g = lane / 4, t = lane % 4): the layout of the matrix units of
// all chips from 8.0 on.
// Macros: ELEMENT 0 bfloat16, 1 float16, 2 float32; SIZE of a head; VECTOR: rows begin at multiples
// of 16 bytes; WARPS.
#pragma once

namespace headwater::kernel::cuda {

#if ELEMENT == 2
using Element = float;
constexpr int pad = 4;
#else
using Element = unsigned short;
constexpr int pad = 8;
#endif
constexpr int threads = 32 * WARPS, tile_rows = 16 * WARPS, tile_columns = 64;
constexpr int depth = (SIZE + 15) / 16 * 16;  // zeros fill the rest
constexpr int row_size = depth + pad;         // of a tile in shared memory: no two rows in one bank

/// Copies rows first ... first + rows - 1 of [count, SIZE] to shared memory; those that do not exist
/// are 0. Returns before the copies are done: see wait_for_tiles.
template <int rows>
__device__ inline void load_tile(Element* to, const Element* from, long long stride, int first,
                                 int count) {
#if VECTOR
  constexpr int chunk = 16 / sizeof(Element), chunks = depth / chunk;
  for (int x = threadIdx.x; x < rows * chunks; x += threads) {
    const int row = x / chunks, column = x % chunks * chunk;
    const bool there = first + row < count && column < SIZE;
    const Element* source = there ? from + (first + row) * stride + column : from;
    const unsigned target = __cvta_generic_to_shared(to + row * row_size + column);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
                 "r"(there ? 16 : 0)
                 : "memory");
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  for (int x = threadIdx.x; x < rows * depth; x += threads) {
    const int row = x / depth, column = x % depth;
    const bool there = first + row < count && column < SIZE;
    to[row * row_size + column] = there ? from[(first + row) * stride + column] : Element{};
  }
#endif
}

__device__ inline void wait_for_tiles() {
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
}

#if ELEMENT == 2
/// products[c][4] += rows of `a` times rows of `b`, in float32.
__device__ inline void multiply(const Element* a, const Element* b, float (&products)[8][4]) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const Element* rows = a + (threadIdx.x / 32 * 16 + g) * row_size;
#pragma unroll 1
  for (int k = 0; k < depth; k += 4) {
    const float4 x = *reinterpret_cast<const float4*>(rows + k);
    const float4 y = *reinterpret_cast<const float4*>(rows + 8 * row_size + k);
#pragma unroll
    for (int c = 0; c < 8; ++c)
#pragma unroll
      for (int side_by_side = 0; side_by_side < 2; ++side_by_side) {
        const float4 z =
            *reinterpret_cast<const float4*>(b + (c * 8 + 2 * t + side_by_side) * row_size + k);
        float& upper = products[c][side_by_side];
        float& lower = products[c][2 + side_by_side];
        upper = fmaf(x.w, z.w, fmaf(x.z, z.z, fmaf(x.y, z.y, fmaf(x.x, z.x, upper))));
        lower = fmaf(y.w, z.w, fmaf(y.z, z.z, fmaf(y.y, z.y, fmaf(y.x, z.x, lower))));
      }
  }
}
#else
__device__ inline void load_matrices(unsigned (&to)[4], const Element* from) {
  const unsigned source = __cvta_generic_to_shared(from);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(source)
               : "memory");
}

__device__ inline void multiply_matrices(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
#if ELEMENT == 0
#define HALVES "bf16.bf16"
#else
#define HALVES "f16.f16"
#endif
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." HALVES
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#undef HALVES
}

/// products[c][4] += rows of `a` times rows of `b`, summed in float32.
__device__ inline void multiply(const Element* a, const Element* b, float (&products)[8][4]) {
  const int lane = threadIdx.x % 32;
  const Element* rows = a + (threadIdx.x / 32 * 16 + lane % 16) * row_size + lane / 16 * 8;
  const Element* columns = b + (lane / 16 * 8 + lane % 8) * row_size + lane / 8 % 2 * 8;
#pragma unroll
  for (int k = 0; k < depth; k += 16) {
    unsigned left[4];
    load_matrices(left, rows + k);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      unsigned right[4];
      load_matrices(right, columns + c * 16 * row_size + k);
      multiply_matrices(products[2 * c], left, right[0], right[1]);
      multiply_matrices(products[2 * c + 1], left, right[2], right[3]);
    }
  }
}
#endif

}  // namespace headwater::kernel::cuda
