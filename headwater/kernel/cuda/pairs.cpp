#include "headwater/kernel/cuda/pairs.h"

#include "headwater/core/fail.h"
#include "headwater/kernel/cuda/arguments.h"
#include "headwater/kernel/cuda/kernels.h"

namespace headwater::kernel::cuda {
namespace {

// As in product_hopper.cu.
constexpr int product_tile = 128, product_depth = 64, row_groups = 16, product_threads = 384,
              product_stages = 3;
constexpr unsigned stage_bytes = 4 * product_tile * product_depth * 2;

TensorMap parts_of(const Pairs& pairs, int rows, int columns, unsigned box_rows) {
  const auto bytes = [](long long numbers) { return static_cast<unsigned long long>(numbers) * 2; };
  return tiles_of({pairs.data, true, static_cast<unsigned long long>(columns),
                   static_cast<unsigned long long>(rows), 2, bytes(pairs.row), bytes(pairs.part)},
                  box_rows);
}

void start(const PairProduct& given, Product product, bool pairs) {
  if (given.n < 1 || given.rows < 1 || given.first < 0 || given.first % product_tile != 0 ||
      given.rows > given.n - given.first || given.left.row % 8 != 0 || given.right.row % 8 != 0)
    fail("product kernel: rows {} to {} of {} do not fit, or rows begin at odd places", given.first,
         given.first + given.rows, given.n);
  product.n = given.n;
  product.rows = given.rows;
  product.first = given.first;
  product.lower = given.lower ? 1 : 0;
  TensorMap left = parts_of(given.left, given.rows, given.n, product_tile);
  TensorMap right = parts_of(given.right, given.n, given.n, product_depth);
  void* words[] = {&product, &left, &right};
  const Variant variant = {
      "product_hopper.cu",
      {fmt::format("STAGES={}", product_stages), fmt::format("PAIRS={}", pairs ? 1 : 0)},
      product_stages * stage_bytes + 2048};
  launch(kernel_for(given.device, variant),
         {{row_groups, blocks_for(given.n, product_tile),
           blocks_for(given.rows, product_tile * row_groups)},
          product_threads,
          variant.shared_bytes,
          given.stream},
         words);
}

}  // namespace

bool multiplies_pairs(int number) {
  const Device& on = device(number);
  return on.major == 9 && on.minor == 0;
}

void PairProduct::into(const Pairs& out) const {
  if (out.row % 2 != 0) fail("product kernel: rows of {} numbers, expected an even count", out.row);
  start(*this, {out.data, out.row, out.part, 0, 0, 0, 0}, true);
}

void PairProduct::into(float* out) const { start(*this, {out, n, 0, 0, 0, 0, 0}, false); }

}  // namespace headwater::kernel::cuda
