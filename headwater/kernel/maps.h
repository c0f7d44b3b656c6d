// The operations on attention maps: fuse heads into a map, prepare its rows, multiply maps.
#pragma once
#include <cstddef>
#include <span>

#include "headwater/core/dtype.h"
#include "headwater/core/matrix.h"

namespace headwater::kernel {

/// How a head joins the heads before it.
enum class Reduce { sum, max, min };

/// Some rows of a head, or the same rows of several heads, as a file or an array stores them: f16,
/// bf16, f32 or f64, at any address.
struct HeadRows {
  DType type = DType::f32;
  const std::byte* data = nullptr;
  std::ptrdiff_t stride =
      0;  // numbers between the starts of two rows; the numbers of a row are contiguous
  int heads = 1;
  std::ptrdiff_t apart = 0;  // numbers between the starts of two heads
};

/// out(r, j) = reduce(out(r, j), weight * head(r, j)) for one head after the other; with `first`,
/// the old contents of out are ignored. sums[h * rows + r] = the sum of row r of head h (without
/// weight), or NaN if the row holds a NaN, an infinity (also: a double that float cannot hold) or a
/// negative number; the row of out is then undefined. One pass over the heads. Pass all heads in
/// one call: it reads them at the speed of memory, one call for each head does not. One thread.
void fuse_rows(Reduce reduce, bool first, float weight, HeadRows head, MatrixSpan out,
               std::span<float> sums);

/// What prepare() does to each row: drop what is below `threshold`, then mix with the identity,
/// then divide by the row's own sum.
struct RowStep {
  float threshold = 0;  // entries strictly below it become 0
  double residual = 0;  // a <- (1 - residual) a + residual * identity
  bool divide = true;   // rows divided by their sums, which are taken in double
  bool empty_keeps =
      true;  // a row that sums to 0: true makes it the identity's row, false leaves it zero
};

/// Applies `step` to every row of the square matrix `map`, in place; entries must be finite and not
/// negative. Returns the number of rows that sum to 0 and so could not be divided. One pass over
/// memory, on several threads.
int prepare(MatrixSpan map, const RowStep& step);

/// The same for some rows of a square matrix: row r of `rows` is its row first + r.
int prepare_rows(MatrixSpan rows, int first, const RowStep& step);

/// out = a b. out overlaps neither. Leading and trailing zeros of the rows of a and of the columns
/// of b are skipped in blocks, so triangular and banded matrices cost what their bands cost.
/// Several threads. Packs up to 512 columns of a and rows of b into memory that the calling thread
/// reuses.
void multiply(MatrixView a, MatrixView b, MatrixSpan out);

/// out = row a, a row vector times a matrix. out does not overlap row. Several threads, one pass
/// over a.
void multiply(std::span<const float> row, MatrixView a, std::span<float> out);

/// One implementation of the above, as part of Kernels (kernel.h).
struct MapKernels {
  void (*fuse_rows)(Reduce reduce, bool first, float weight, HeadRows head, MatrixSpan out,
                    std::span<float> sums);
  /// prepare() for some rows: row r of `rows` is row first + r of the square matrix. One thread.
  int (*prepare_rows)(MatrixSpan rows, int first, const RowStep& step);
  void (*multiply)(MatrixView a, MatrixView b, MatrixSpan out);
  /// out[j] = sum over r of weights[r] * rows(r, j). One thread.
  void (*add_rows)(std::span<const float> weights, MatrixView rows, std::span<float> out);
};

}  // namespace headwater::kernel
