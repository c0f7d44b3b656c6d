// What a model's head makes of its last hidden states, and where a logit comes from in them.
#pragma once
#include <vector>

#include "headwater/model/model.h"

namespace headwater {

/// Borrows the model.
class Classifier {
 public:
  using Kind = ClassifierNames::Kind;

  /// The head that config.json names. Throws Error if it names none, one that is not implemented,
  /// or one whose tensors are not there.
  explicit Classifier(const Model& model);

  Kind kind() const { return names_.kind; }
  /// Classes or words; 2 for answers.
  int outputs() const { return out_.weights.outputs; }
  /// True if it looks at a row at a time; else it is to be given all rows.
  bool by_row() const;
  /// The row that stands for the whole input where the head gives classes of it.
  int row(const std::vector<int>& ids, int n) const;

  /// `finished` is what Model::finish gave, or some rows of it if by_row(). rows x outputs, or
  /// 1 x outputs.
  Matrix logits(MatrixView finished) const;

  /// Adds `weight` times the gradient of logit `id` to `gradient`, of the shape of `finished`: one
  /// row if by_row(), else all.
  void backward(MatrixView finished, int id, float weight, MatrixSpan gradient) const;

 private:
  // The numbers on the way to `out`, for all rows.
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
