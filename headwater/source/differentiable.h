// A model's output for one input: what it depends on, and what becomes of it without some tokens.
#pragma once
#include <span>

#include "headwater/source/gradient.h"
#include "headwater/source/source.h"

namespace headwater {

/// What a source that is a model can do beside handing out attention.
class Differentiable {
 public:
  virtual ~Differentiable() = default;
  /// Differentiates a logit and calls visit for the layers of request.range, from the top down,
  /// with the positive part of attention (x) its gradient, heads joined by request.fuse: n x n,
  /// not negative. Throws Error for a model without a head that gives logits, and for a target that
  /// is not there.
  virtual GradientAnswer gradients(const GradientRequest& request, const Visit& visit) = 0;
  /// The logit as gradients() found it, with the tokens of `blanked` blanked out: in a text each
  /// becomes the mask token, or the unknown token where the vocabulary has no mask; in an image the
  /// patch becomes the mean colour (0 after normalisation). One forward pass. Throws Error for
  /// models with neither token, and for a token of no place in the image.
  virtual Outcome outcome(const Logit& logit, std::span<const int> blanked) = 0;
};

/// source.differentiable(). Throws Error if the source holds attention alone.
Differentiable& differentiable(Source& source);

}  // namespace headwater
