// Rollout of a growing text: which prompt tokens each new token depends on.
//
//   R_l[p, j] = sum over q <= p of A_l[p, q] R_(l-1)[q, j],   R_0[p, j] = A_0[p, j],   j < m
//
// A_l is causal, so the rows of earlier positions never change. They are kept, and a new position
// costs one new row a layer, p m operations each. Only the columns of the m prompt tokens are kept,
// so a row sums to the share that comes from the prompt, at most 1.
#pragma once
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/source/source.h"

namespace headwater {

class Tracker {
 public:
  /// For a model with `layers` layers, of which options.layers are tracked; `prompt` columns; at
  /// most `positions` rows. Throws Error (usage) for options that need the whole matrix: discard,
  /// and preset metrics, which multiplies in reverse order.
  Tracker(int layers, int prompt, int positions, const Options& options, const std::string& name);

  /// Adds the fused attention of new positions in one layer. Each row covers all positions up to
  /// the last new one. Call it for the lowest layer first. Overwrites the rows.
  void push(int layer, MatrixSpan rows);

  Range range() const { return range_; }
  /// R of one layer of the range: a row for each position so far.
  MatrixView rolled(int layer) const;
  /// Number of prepared rows that summed to 0.
  int empty_rows() const { return empty_; }

 private:
  Options options_;
  Range range_;
  int prompt_;
  std::vector<int> counts_;     // positions so far in each layer
  std::vector<Matrix> rolled_;  // R of each layer of the range
  int empty_ = 0;
};

}  // namespace headwater
