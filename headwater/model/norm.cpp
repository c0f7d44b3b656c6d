#include "headwater/model/norm.h"

namespace headwater {
namespace {

bool is_layer_norm(const Architecture& model) {
  return model.norm == Architecture::Norm::layer ||
         model.norm == Architecture::Norm::layer_without_bias;
}

}  // namespace

void apply_norm(const Architecture& model, const NormWeights& norm, MatrixView x, MatrixSpan out) {
  if (is_layer_norm(model))
    kernel::layer_norm(x, norm.weight, norm.bias, model.epsilon, out);
  else
    kernel::rms_norm(x, norm.weight, model.epsilon, out);
}

void apply_norm_backward(const Architecture& model, const NormWeights& norm, MatrixView x,
                         Propagation& how, MatrixView gradient, kernel::Into into, MatrixSpan dx) {
  how.absorb(gradient, norm.bias);
  if (is_layer_norm(model))
    kernel::layer_norm_backward(x, norm.weight, model.epsilon, how.slope, gradient, into, dx);
  else
    kernel::rms_norm_backward(x, norm.weight, model.epsilon, how.slope, gradient, into, dx);
}

}  // namespace headwater
