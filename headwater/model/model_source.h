// Attention from a model that is run on one input.
//
// The first pass from the bottom up computes each map inside the attention of its own layer. If
// maps are wanted again, or from the top down, a pass keeps the queries and keys of all layers,
// L n d numbers, and computes maps from them block by block of rows. heads x n x n never exists,
// and for some rows neither does n x n.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "headwater/model/forward.h"
#include "headwater/model/output_head.h"
#include "headwater/model/pack.h"
#include "headwater/model/propagation.h"
#include "headwater/model/trace.h"
#include "headwater/source/differentiable.h"

namespace headwater {

class ModelSource : public Source, public Differentiable {
 public:
  /// A text, an image, or a function that returns the rows for the first block each time it is
  /// called. For a function, gradients are with respect to these rows, and nothing can be blanked
  /// out.
  using Input = std::variant<TextInput, Pixels, std::function<Matrix()>>;
  /// `notes` says what was done to the input. `head` gives the logits; null: the model's
  /// classifier. A text may be text `place` of a pack, which the other sources of the pack share.
  ModelSource(std::shared_ptr<const Model> model, Description description, Input input,
              std::vector<std::string> notes = {}, std::shared_ptr<const OutputHead> head = {},
              std::shared_ptr<Pack> pack = {}, size_t place = 0);
  ~ModelSource() override;

  const Description& description() const override { return description_; }
  void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) override;
  void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) override;
  std::vector<std::string> notes() const override;
  Differentiable* differentiable() override { return this; }
  /// About two and a half forward passes; memory as for a forward pass, plus n x width a layer.
  GradientAnswer gradients(const GradientRequest& request, const Visit& visit) override;
  /// The same; without edges, memory is linear in n.
  RelevanceAnswer relevance(const RelevanceRequest& request) override;
  Outcome outcome(const Logit& logit, std::span<const int> blanked) override;
  std::vector<Outcome> outcomes(const Logit& logit,
                                std::span<const std::vector<int>> blanked) override;
  std::optional<Prediction> prediction() override;
  std::optional<Prediction> prediction_at(int row) override;
  bool one_of_two() const override;

 private:
  struct Kept {
    Matrix queries, keys;
  };
  void packed_rows(const Fuse& fuse, Range range, Direction direction, RowVisitor& visitor);
  /// Throws Error as Model::classifier does.
  const OutputHead& head() const;
  void keep(int end);
  void attend(const Fuse& fuse, int layer, int first, MatrixSpan rows) const;
  /// The last hidden states, after a pass through all layers.
  void run_to_the_end(const std::function<void(MatrixView hidden)>& take) const;
  /// Keeps the rows of the last hidden states that decide the prediction.
  void remember(MatrixView hidden);
  /// The same, from a function that gives these rows, or none.
  void remember(const std::function<MatrixView(Range rows)>& hidden);

  /// The input rows of the first block.
  Matrix embed() const;
  /// The same with some tokens blanked out.
  Matrix embed_without(std::span<const int> tokens) const;
  /// The outcome of a pass through all layers, whose last hidden states these are.
  Outcome outcome_of(const Logit& logit, MatrixView hidden) const;
  /// Each token on its own, without position and type.
  Matrix tokens() const;
  /// The rows that gradients are with respect to: the sums before any norm, or the rows of a
  /// function.
  Matrix input_rows() const;
  /// embed() from input_rows(), and the gradient the other way.
  Matrix enter(Matrix rows) const;
  Matrix leave(MatrixView rows, Propagation& how, MatrixView gradient) const;

  /// Where integrated gradients start, in the form of input_rows().
  struct Baseline {
    std::string name;
    Matrix rows;
  };
  Baseline baseline(const std::string& asked) const;
  void pass_relevance(const RelevanceRequest& request, MatrixView rows, const Trace& run,
                      RelevanceAnswer& answer) const;
  void integrate(const RelevanceRequest& request, MatrixView rows, const Baseline& from,
                 RelevanceAnswer& answer) const;

  std::shared_ptr<const Model> owned_;
  const Model& model_;
  Description description_;
  Input input_;
  std::vector<std::string> notes_;
  std::shared_ptr<const OutputHead> head_;
  std::shared_ptr<Pack> pack_;  // null if the input runs on its own
  size_t place_ = 0;            // in the pack
  Matrix deciding_;       // finished rows of the last layer; none before a pass through all layers
  bool visited_ = false;  // a pass that kept nothing has run
  bool passed_scores_ = false;  // relevance has passed through attention scores
  std::vector<Kept> kept_;      // of layers 0 ... size - 1
};

}  // namespace headwater
