// What computes logits from a model's last hidden states: a classifier, or a similarity to another
// input.
#pragma once
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/model/architecture.h"
#include "headwater/model/propagation.h"

namespace headwater {

class OutputHead {
 public:
  using Kind = ClassifierNames::Kind;
  virtual ~OutputHead() = default;

  virtual Kind kind() const = 0;
  /// The name of its only output; "": each output has its own name.
  virtual std::string label() const { return {}; }
  /// The number of classes or words; 2 for answers, 1 for a similarity.
  virtual int outputs() const = 0;
  /// Whether it reads one row at a time; otherwise it needs all rows.
  virtual bool by_row() const = 0;
  /// The row that represents the whole input, for a head of whole inputs.
  virtual int row(const std::vector<int>& ids, int n) const = 0;

  /// `finished` is the output of Model::finish, or some of its rows if by_row(). Returns rows x
  /// outputs, or 1 x outputs.
  virtual Matrix logits(MatrixView finished) const = 0;

  /// Adds `weight` times the gradient of logit `id` to `gradient`, which has the shape of
  /// `finished`: one row if by_row(), else all.
  virtual void backward(MatrixView finished, int id, float weight, Propagation& how,
                        MatrixSpan gradient) const = 0;
};

}  // namespace headwater
