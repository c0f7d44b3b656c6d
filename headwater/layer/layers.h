// The prepared layers of a source: one row-stochastic n x n matrix a layer, made when it is asked
// for.
//
// With F the fused heads, r the residual, d the share to discard:
//   residual first (default): A = (1-r) F + r I, rows divided by their sums; then the floor(n n d)
//   smallest
//     entries make a threshold, entries below it become 0, and rows are divided again.
//   discard first: the threshold on F; then (1-r) F + r I; then rows divided, once.
// With divide = changed a step divides only if it changed something. A row with nothing to divide
// by becomes the identity's or stays zero. Preset metrics leaves the first layer of the range as it
// is.
#pragma once
#include <string>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/source/source.h"

namespace headwater {

/// Turns one fused map into the layer's matrix, in place. Returns how many rows had nothing to
/// divide by. n^2 time: three passes at most.
int prepare_layer(MatrixSpan map, const Options& options);

/// The same for some rows of a layer, first ... of it, which without discard stand for themselves;
/// options.discard must be 0.
int prepare_rows(MatrixSpan rows, int first, const Options& options);

/// What a result says of `count` rows that had nothing to divide by.
std::string empty_rows_note(long count, Empty empty);

/// Borrows the source, which must outlive it.
class Layers {
 public:
  /// Throws Error if an option is out of its range or names layers that are not there.
  Layers(Source& source, const Options& options);

  Range range() const { return range_; }
  const Description& description() const { return source_.description(); }
  int n() const { return static_cast<int>(description().tokens.size()); }

  /// Calls visit(l, A_l) for each layer of the range. The matrix is scratch, as in Source.
  void each(Direction direction, const Visit& visit);

  /// The same in blocks of rows, as Source::rows; discard looks at the whole matrix, so with it a
  /// block is the whole matrix.
  void each_rows(Direction direction, RowVisitor& visitor);

  /// What to tell of the passes so far: emptied rows, mended rows.
  std::vector<std::string> notes() const;
  double reading_seconds() const { return reading_; }
  double preparing_seconds() const { return preparing_; }

 private:
  class PreparingVisitor;
  bool as_it_is(int layer) const;

  Source& source_;
  Options options_;
  Range range_;
  long empty_rows_ = 0;
  double reading_ = 0, preparing_ = 0;
};

}  // namespace headwater
