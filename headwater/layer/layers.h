// The prepared layers of a source: one row-stochastic n x n matrix a layer, made on request.
//
// With F the fused heads, r the residual and d the share to discard:
//   residual first  (default) A = (1-r) F + r I, and each row is divided by its sum. Then the entry
//                   of rank floor(n n d) is the threshold: entries below it become 0, and rows are
//                   divided again.
//   discard first   The threshold applies to F. Then (1-r) F + r I, and rows are divided once.
// With divide = changed, a step divides rows only if it changed something. A row that sums to 0
// becomes a row of the identity or stays zero. Preset metrics does not change the first layer.
#pragma once
#include <string>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/source/source.h"

namespace headwater {

/// Turns one fused map into the layer's matrix, in place. Returns how many rows summed to 0. Takes
/// n^2 time: at most three passes.
int prepare_layer(MatrixSpan map, const Options& options);

/// The same for a block of rows that starts at row `first`. options.discard must be 0: a threshold
/// needs the whole matrix.
int prepare_rows(MatrixSpan rows, int first, const Options& options);

/// What a result notes about `count` rows that had nothing to divide by.
std::string empty_rows_note(long count, Empty empty);

/// Borrows the source, which must outlive this.
class Layers {
 public:
  /// Throws Error if an option is out of range or names layers that do not exist.
  Layers(Source& source, const Options& options);

  Range range() const { return range_; }
  const Description& description() const { return source_.description(); }
  int n() const { return static_cast<int>(description().tokens.size()); }

  /// Calls visit(l, A_l) for each layer of the range. visit may overwrite the matrix, as in Source.
  void each(Direction direction, const Visit& visit);

  /// The same in blocks of rows, as in Source::rows. With discard, a block is the whole matrix,
  /// because the threshold depends on all of it.
  void each_rows(Direction direction, RowVisitor& visitor);

  /// Notes on the passes so far: emptied rows, repaired rows.
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
