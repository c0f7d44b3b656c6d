// The matrix units of Hopper: 64 rows of keys, in registers, times a tile of queries in shared memory.
// wgmma.mma_async runs while the warps do other work; wait_for_products waits for its sums.
// Macros: ELEMENT 0 bfloat16, 1 float16; TILE, the queries of a tile: 64 or 128; STAGES, the tiles in
// the ring that is copied ahead.
#pragma once

namespace headwater::kernel::cuda {

#if ELEMENT == 0
#define HALVES "bf16.bf16"
#else
#define HALVES "f16.f16"
#endif

/// c = a b (sums = 0) or c += a b (sums = 1) for 16 columns of both; `b` describes the queries.
template <int sums>
__device__ inline void multiply_tile(float (&c)[TILE / 2], const unsigned (&a)[4], unsigned long long b) {
#if TILE == 128
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." HALVES " "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, %69, 1, 1, 0;"
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
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(sums));
#else
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32." HALVES " "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, %37, 1, 1, 0;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
        "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]),
        "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]),
        "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
        "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),
        "+f"(c[30]), "+f"(c[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(sums));
#endif
}
#undef HALVES

/// Describes queries in shared memory, 128 bytes a row, as the copy engine swizzles them. `address`
/// is where 8 rows begin, plus 32 bytes for every 16 columns.
__device__ inline unsigned long long describe(unsigned address) {
  constexpr unsigned long long swizzle_128_bytes = 1ull << 62, eight_rows = 1024 >> 4;
  return swizzle_128_bytes | eight_rows << 32 | 1ull << 16 | (address & 0x3ffff) >> 4;
}

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `left` of the started groups of products are unfinished; `c` is of a finished one.
template <int left>
__device__ inline void wait_for_products(float (&c)[TILE / 2]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
#pragma unroll
  for (int k = 0; k < TILE / 2; ++k) asm volatile("" : "+f"(c[k])::"memory");  // not read before
}

// Tiles in shared memory, and barriers there, which the copy engine can count on too.

struct alignas(64) TensorMap {
  unsigned long long words[16];
};

__device__ inline unsigned address(const void* in_shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(in_shared));
}

/// The place of a tile in the ring, and how many times the ring has wrapped around.
struct Place {
  int stage = 0, round = 0;
  __device__ void next() {
    if (++stage == STAGES) {
      stage = 0;
      round ^= 1;
    }
  }
};

__device__ inline void make_barrier(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ inline void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ inline void arrive_expecting(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ inline void wait_for(unsigned barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Starts copying a box of a tensor to shared memory; the barrier counts its bytes.
__device__ inline void copy_box(unsigned to, const void* map, unsigned barrier, int column, int row,
                                int head) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(column), "r"(row), "r"(head)
      : "memory");
}

}  // namespace headwater::kernel::cuda
