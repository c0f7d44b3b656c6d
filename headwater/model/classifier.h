// Computes logits from a model's last hidden states, and their gradients.
#pragma once
#include <vector>

#include "headwater/model/model.h"
#include "headwater/model/output_head.h"
#include "headwater/model/propagation.h"

namespace headwater {

/// Borrows the model.
class Classifier : public OutputHead {
 public:
  /// The classifier that config.json names. Throws Error if it names none, one that is not
  /// implemented, or one whose tensors are missing.
  explicit Classifier(const Model& model);

  Kind kind() const override { return names_.kind; }
  int outputs() const override { return out_.weights.outputs; }
  bool by_row() const override;
  int row(const std::vector<int>& ids, int n) const override;
  Matrix logits(MatrixView finished) const override;
  void backward(MatrixView finished, int id, float weight, Propagation& how,
                MatrixSpan gradient) const override;

 private:
  // The intermediate values before `out`, for all rows.
  struct Steps {
    Matrix seen, dense, activated, features;
  };
  Steps steps(MatrixView finished) const;
  int first_of_mean() const;
  void spread(MatrixView seen, MatrixSpan gradient) const;
  float cap_slope_at(MatrixView features, int id, kernel::Slope slope) const;

  const Model& model_;
  const ClassifierNames& names_;
  LinearWeights dense_, out_, second_;
  NormWeights norm_;
};

}  // namespace headwater
