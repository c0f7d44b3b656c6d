// Square matrices of pairs, each the sum of two bfloat16, which together hold 16 bits, and their
// products on a GPU with Hopper's own instructions. Nothing is added atomically: the same
// input gives the same bits every time. The kernel is product_hopper.cu.
#pragma once

namespace headwater::kernel::cuda {

/// All high parts [rows, row], then, `part` numbers on, all low ones. A row begins at a multiple of
/// 8 numbers.
struct Pairs {
  void* data = nullptr;
  long long row = 0, part = 0;
};

/// Whether a device has the instructions.
bool multiplies_pairs(int device);

/// Rows first ... first + rows - 1 of left right, both [n, n]. The caller owns all memory, which is
/// on the device, and keeps it until the stream has run the launch. Throws Error if the kernel
/// cannot be compiled or started.
struct PairProduct {
  int device = 0;
  void* stream = nullptr;
  Pairs left;  // [rows, n]: these rows alone
  Pairs right;
  int n = 0, first = 0, rows = 0;  // `first` is a multiple of 128
  /// Both are lower triangular. Zeros are not read, and the product has numbers only up to the
  /// diagonal and in the tiles of 128 x 128 that it crosses.
  bool lower = false;

  void into(const Pairs& out) const;
  void into(float* out) const;  // [rows, n]
};

}  // namespace headwater::kernel::cuda
