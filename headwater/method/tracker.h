// Rollout of a text that grows: which prompt tokens each new token leans on.
//
//   R_l[p, j] = sum over q <= p of A_l[p, q] R_(l-1)[q, j],   R_0[p, j] = A_0[p, j],   j < m
//
// A_l is causal, so the rows of earlier positions never change: they are kept, and a new position
// costs one new row a layer, p m operations each. Columns are cut to the m prompt tokens, so a row
// sums to what of it comes from the prompt by way of kept positions, 1 at most.
#pragma once
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/source/source.h"

namespace headwater {

class Tracker {
 public:
  /// `layers` of the model, of which options.layers are followed; `prompt` columns; room for
  /// `positions` rows. Throws Error (usage) for options that need the whole matrix: discard, and
  /// preset metrics, whose product runs the other way.
  Tracker(int layers, int prompt, int positions, const Options& options, const std::string& name);

  /// The fused attention of new positions in one layer, each row over all positions up to the last
  /// of them. Layers come from below. The rows are overwritten.
  void push(int layer, MatrixSpan rows);

  Range range() const { return range_; }
  /// R of a layer of the range: a row for each position so far.
  MatrixView rolled(int layer) const;
  /// Rows of the prepared attention that had nothing to divide by.
  int empty_rows() const { return empty_; }

 private:
  Options options_;
  Range range_;
  int prompt_;
  std::vector<int> counts_;     // positions that each layer has
  std::vector<Matrix> rolled_;  // of each layer of the range
  int empty_ = 0;
};

}  // namespace headwater
