// The cosine of the vectors of two inputs, as a logit of one of them.
//
// With v the vector of this input, by its Pooling, and u the other input's vector, of length 1:
//
//   y = factor * v . u / |v| + offset
//
// In relevance, |v| is a constant, as the standard deviation of a norm is.
#pragma once
#include "headwater/model/output_head.h"
#include "headwater/model/pooling.h"

namespace headwater {

class Similarity : public OutputHead {
 public:
  struct Scale {
    float factor = 1, offset = 0;
  };
  /// That of a text and an image in CLIP and SigLIP: logit_scale, as a logarithm, and logit_bias.
  static Scale read_scale(const Checkpoint& checkpoint);
  /// `ids` are this input's, empty for an image; `other` is the vector of the other input, and
  /// `name` the other input's name.
  Similarity(const Pooling& pooling, std::vector<int> ids, Vector other, const std::string& name,
             Scale scale);

  Kind kind() const override { return Kind::similarity; }
  std::string label() const override { return label_; }
  int outputs() const override { return 1; }
  bool by_row() const override { return false; }
  int row(const std::vector<int>& ids, int n) const override;
  Matrix logits(MatrixView finished) const override;
  void backward(MatrixView finished, int id, float weight, Propagation& how,
                MatrixSpan gradient) const override;

 private:
  Pooling pooling_;
  std::vector<int> ids_;
  Vector other_;
  std::string label_;
  Scale scale_;
};

/// The vector of an input, of length 1. `finished` is the output of Model::finish.
Vector unit_vector(const Pooling& pooling, const std::vector<int>& ids, MatrixView finished);

}  // namespace headwater
