// What comes out of a layer for some rows: the sums of all splits, and what the residual passes on.
//   out = share (parts[0] + parts[1] + ...) + residual weights
// Always added in this order, so the bits are the same every time. Blocks: ceil(count / 256) x items.
#include "arguments.h"

using namespace headwater::kernel::cuda;

extern "C" __global__ void __launch_bounds__(256) total(const Total a) {
  const long long at = blockIdx.x * 256ll + threadIdx.x;
  if (at >= a.count) return;
  const float* parts = a.parts + blockIdx.y * a.splits * a.count;
  float sum = 0.f;
#pragma unroll 4
  for (int split = 0; split < a.splits; ++split) sum += parts[split * a.count + at];
  const long long place = blockIdx.y * a.count + at;
  a.out[place] = fmaf(a.residual, a.weights[place], a.share * sum);
}
