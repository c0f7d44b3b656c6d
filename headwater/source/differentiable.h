// A model's output for one input: what it depends on, and how it changes without some tokens.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "headwater/source/gradient.h"
#include "headwater/source/prediction.h"
#include "headwater/source/relevance.h"
#include "headwater/source/source.h"

namespace headwater {

/// What a source that is a model can do besides providing attention.
class Differentiable {
 public:
  virtual ~Differentiable() = default;
  /// Differentiates a logit. Calls visit for the layers of request.range, from the top down, with
  /// the positive part of attention (x) gradient, heads fused by request.fuse: n x n, not negative.
  /// Throws Error if the model has no logits or the target does not exist.
  virtual GradientAnswer gradients(const GradientRequest& request, const Visit& visit) = 0;
  /// The relevance of each token for a logit, by one backward pass, or by request.steps of them for
  /// integrated. Never holds an n x n map, unless edges are asked for. Throws Error as gradients()
  /// does, and if the baseline does not suit the input.
  virtual RelevanceAnswer relevance(const RelevanceRequest& request) = 0;
  /// The logit that gradients() or relevance() found, with the tokens in `blanked` blanked out. In
  /// a text, each becomes the mask token, or the unknown token if the vocabulary has no mask. In an
  /// image, the patch becomes the mean colour (0 after normalisation). One forward pass. Throws
  /// Error if the model has neither token, or if a token is not a patch of the image.
  virtual Outcome outcome(const Logit& logit, std::span<const int> blanked) = 0;
  /// The same for each of several sets of tokens. A model runs several of them together; the
  /// results are the same bytes.
  virtual std::vector<Outcome> outcomes(const Logit& logit,
                                        std::span<const std::vector<int>> blanked);
  /// The model's prediction for its input; none if it has no logits, or if it fills in masks and
  /// the input does not have exactly one. Costs little after a pass through all layers, else a
  /// forward pass.
  virtual std::optional<Prediction> prediction() { return {}; }
  /// The prediction at token `row`, if the model has one for each token; else prediction().
  virtual std::optional<Prediction> prediction_at(int /*row*/) { return prediction(); }
  /// Whether targets are one of two classes, so that a target's probability depends on the
  /// difference of their logits alone.
  virtual bool one_of_two() const { return false; }
};

/// source.differentiable(). Throws Error if the source is only attention.
Differentiable& differentiable(Source& source);

}  // namespace headwater
