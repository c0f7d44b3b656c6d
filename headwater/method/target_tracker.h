// Rollout of a target that grows beside a source: which tokens of both each new token depends on.
//
// E is the rollout of the encoder, s x s. T_l and S_l say how much of each target position comes
// from target and from source tokens after layer l of the decoder. With A_l its prepared attention,
// C_l its attention to the source with rows divided by their sums, and r the residual:
//
//   T = I, S = 0                                   before the first layer
//   T <- A_l T,   S <- A_l S                       self attention, whose residual is in A_l
//   T <- r T,     S <- r S + (1 - r) C_l E         cross attention and its residual
//
// Each row of [T S] sums to 1. A_l is causal, so rows of earlier positions never change: they are
// kept, and a new position costs one new row a layer.
#pragma once
#include <string>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/source/source.h"

namespace headwater {

class TargetTracker {
 public:
  /// For a decoder with `layers` layers beside a source of `source` tokens, and at most `positions`
  /// rows. Throws Error (usage) for options that are made for one stack of layers: layers, discard
  /// and preset metrics.
  TargetTracker(int layers, int source, int positions, const Options& options);

  /// Adds the next layer of the encoder, from the lowest on; all of them before any push.
  /// Overwrites the map.
  void encode(MatrixSpan map);
  /// Adds the fused attention of new positions in one layer: first to the target, each row over all
  /// positions up to the last new one, then to the source. The lowest layer comes first. Overwrites
  /// the rows.
  void push(int layer, MatrixSpan rows);
  void push_across(int layer, MatrixSpan rows);

  const Matrix& encoder() const { return encoder_; }
  MatrixView target(int layer) const;
  MatrixView source(int layer) const;
  /// Number of prepared rows that summed to 0.
  int empty_rows() const { return empty_; }

 private:
  Options options_, across_;
  std::vector<int> counts_;  // positions so far in each layer
  std::vector<Matrix> target_, source_;
  Matrix encoder_;
  int empty_ = 0;
};

}  // namespace headwater
