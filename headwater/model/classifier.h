// Computes logits from a model's last hidden states, and their gradients.
#pragma once
#include <vector>

#include "headwater/model/model.h"
#include "headwater/model/propagation.h"

namespace headwater {

/// Borrows the model.
class Classifier {
 public:
  using Kind = ClassifierNames::Kind;

  /// The classifier that config.json names. Throws Error if it names none, one that is not
  /// implemented, or one whose tensors are missing.
  explicit Classifier(const Model& model);

  Kind kind() const { return names_.kind; }
  /// The number of classes or words; 2 for answers.
  int outputs() const { return out_.weights.outputs; }
  /// Whether it reads one row at a time; otherwise it needs all rows.
  bool by_row() const;
  /// The row that represents the whole input, for a classifier of whole inputs.
  int row(const std::vector<int>& ids, int n) const;

  /// `finished` is the output of Model::finish, or some of its rows if by_row(). Returns rows x
  /// outputs, or 1 x outputs.
  Matrix logits(MatrixView finished) const;

  /// Adds `weight` times the gradient of logit `id` to `gradient`, which has the shape of
  /// `finished`: one row if by_row(), else all.
  void backward(MatrixView finished, int id, float weight, Propagation& how,
                MatrixSpan gradient) const;

 private:
  // The intermediate values before `out`, for all rows.
  struct Steps {
    Matrix seen, dense, activated, features;
  };
  Steps steps(MatrixView finished) const;

  const Model& model_;
  const ClassifierNames& names_;
  LinearWeights dense_, out_, second_;
  NormWeights norm_;
};

}  // namespace headwater
