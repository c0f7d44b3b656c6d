// A model run on one input: one more place that attention comes from.
//
// The first pass from below makes each map inside the attention of its own layer. Where maps are
// wanted again, or from the top down, a pass keeps the queries and keys of all layers (L n d
// numbers) and makes from them what is asked for, block of rows by block of rows: heads x n x n
// never exists, and for some rows n x n does not either.
#pragma once
#include <functional>
#include <vector>

#include "headwater/model/forward.h"
#include "headwater/source/source.h"

namespace headwater {

class ModelSource : public Source {
 public:
  /// Borrows the model and the input.
  ModelSource(const Model& model, Example example, const TextInput& input);
  ModelSource(const Model& model, Example example, const Pixels& pixels);
  /// The input's rows as `embed` gives them, each time it is asked; gradients are of these rows,
  /// and nothing can be blanked out.
  ModelSource(const Model& model, Example example, std::function<Matrix()> embed);

  const Example& example() const override { return example_; }
  void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) override;
  void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) override;
  /// Two forward passes and a half or so; memory as a forward pass, and a matrix n x width a layer.
  GradientAnswer gradients(const GradientRequest& request, const Visit& visit) override;
  Outcome outcome(const Logit& logit, std::span<const int> blanked) override;

 private:
  struct Kept {
    Matrix queries, keys;
  };
  void run(int end, const std::function<void(Forward& forward)>& step);
  void keep(int end);
  void attend(const Fuse& fuse, int layer, int first, MatrixSpan rows) const;

  const Model& model_;
  Example example_;
  std::function<Matrix()> embed_;
  std::function<Matrix()> tokens_;                       // what gradients are taken of,
  std::function<Matrix(MatrixView)> backward_;           // and the way there from those of embed_
  std::function<Matrix(std::span<const int>)> without_;  // embed_ with some tokens blanked out
  bool visited_ = false;                                 // a pass that kept nothing has been made
  std::vector<Kept> kept_;                               // of layers 0 ... size - 1
};

}  // namespace headwater
