// The bias of scores by distance, query and key (He et al. 2021): the query times the key of the
// distance's bucket, plus the key times the bucket's query.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "headwater/core/on_first_use.h"
#include "headwater/model/architecture.h"
#include "headwater/model/checkpoint.h"
#include "headwater/model/layer_weights.h"

namespace headwater {

/// Keys and queries of all buckets, in all layers.
class Places {
 public:
  /// Throws Error as ModelBlocks does.
  Places(const Architecture& model, const Checkpoint& checkpoint, const std::string& prefix);

  /// Of one layer: heads x buckets x size, times the scale of scores; empty: none.
  struct Layer {
    Vector keys, queries;
  };
  /// Computed for all layers on first use, by any thread.
  const Layer& layer(int l) const;

  const Architecture& model() const { return model_; }
  /// The bucket of the distance from a key to a query.
  int bucket_of(int distance) const;

 private:
  struct Maps {
    LinearWeights keys, queries;
  };
  Vector spread(MatrixView rows, const LinearWeights& map) const;

  const Architecture& model_;
  kernel::Weights table_;
  NormWeights norm_;
  std::vector<Maps> maps_;
  OnFirstUse<std::vector<Layer>> layers_;
};

/// Their bias of the scores of an input of n tokens, one layer at a time. Borrows the places.
class PlaceScores {
 public:
  PlaceScores() = default;
  /// Without places, nothing is added.
  PlaceScores(const Places* places, int n);

  /// For some queries and all keys of layer l, as kernel::Attention has them. The result is valid
  /// until the next call.
  kernel::Buckets run(int l, MatrixView queries, MatrixView keys);
  /// Room for the gradients of the last result's queries and keys.
  std::pair<MatrixSpan, MatrixSpan> gradients();
  /// Adds what is there to the gradients of queries and keys.
  void backward(int l, MatrixSpan queries, MatrixSpan keys);

 private:
  kernel::Weights weights(const Vector& numbers, int head) const;

  const Places* places_ = nullptr;
  int first_ = 0, count_ = 0;  // the buckets in use
  std::vector<int> of_;
  Matrix by_query_, by_key_, query_gradient_, key_gradient_;
};

}  // namespace headwater
