// One vector from an input's rows by attention (SigLIP): a query that belongs to the model attends
// to all rows, and a feed-forward part follows.
//
//   o = W softmax(q k' scale) v,   out = o + W activation(W norm(o))
#pragma once
#include "headwater/model/layer_weights.h"
#include "headwater/model/model.h"

namespace headwater {

class AttentionPool {
 public:
  /// Binds the tensors under `prefix`, "vision_model.head." for example. Borrows the model. Throws
  /// Error as Checkpoint does.
  AttentionPool(const Model& model, const std::string& prefix);

  /// Of the output of Model::finish, 1 x width.
  Matrix apply(MatrixView finished) const;
  /// Adds the gradient of `finished` to `gradient`, given the gradient of apply()'s output.
  void backward(MatrixView finished, MatrixView down, Propagation& how, MatrixSpan gradient) const;

 private:
  // The input of the feed-forward part, and the intermediate values of attention.
  struct Steps {
    Matrix projected, queries, seen, normed, inner;
  };
  Steps steps(MatrixView finished) const;
  kernel::Attention attention(const Steps& to, int n) const;

  const Model& model_;
  Matrix probe_;          // 1 x width
  LinearWeights packed_;  // queries, keys and values
  LinearWeights mixed_, up_, down_;
  NormWeights norm_;
};

}  // namespace headwater
