#include "headwater/model/convolution.h"

#include "headwater/model/norm.h"
#include "headwater/model/segments.h"

namespace headwater {
namespace {

// Columns first ... first + count - 1.
MatrixView columns(MatrixView x, int first, int count) {
  return {x.data() + first, x.rows(), count, x.stride()};
}

MatrixSpan columns(MatrixSpan x, int first, int count) {
  return {x.data() + first, x.rows(), count, x.stride()};
}

// Calls pair(t, u, k) for each row t and each row u of the same input that is at place k of the
// `size` places around t.
template <class Pair>
void each_neighbour(const Segments& inputs, int size, const Pair& pair) {
  for (int input = 0; input < inputs.count(); ++input) {
    const int begin = inputs.first(input), end = begin + inputs.length(input);
    for (int t = begin; t < end; ++t)
      for (int k = 0; k < size; ++k) {
        const int u = t + k - size / 2;
        if (u >= begin && u < end) pair(t, u, k);
      }
  }
}

// The neighbours of each row side by side: column d * size + k has column d of neighbour k, in the
// order of the weights.
Matrix side_by_side(MatrixView x, const Segments& inputs, int size) {
  Matrix out(x.rows(), x.columns() * size);
  each_neighbour(inputs, size, [&](int t, int u, int k) {
    for (int d = 0; d < x.columns(); ++d) out(t, d * size + k) = x(u, d);
  });
  return out;
}

// Its derivative: adds each number to where it came from.
void add_back(MatrixView gradient, const Segments& inputs, int size, MatrixSpan x) {
  each_neighbour(inputs, size, [&](int t, int u, int k) {
    for (int d = 0; d < x.columns(); ++d) x(u, d) += gradient(t, d * size + k);
  });
}

}  // namespace

Convolution::Convolution(const Architecture& model, const Checkpoint& checkpoint,
                         const std::string& prefix)
    : shape_(model) {
  const ConvolutionNames& names = *model.convolution;
  const std::string name = prefix + names.name;
  const int part = model.width / names.groups;
  const kernel::Weights all =
      checkpoint.flattened(name + ".weight", {model.width, part, names.size});
  for (int g = 0; g < names.groups; ++g) groups_.push_back(outputs_of(all, g * part, part));
  bias_ = checkpoint.vector(name + ".bias", {model.width});
  norm_ = bind_norm(checkpoint, prefix + names.norm, model.norm, model.width);
}

Matrix Convolution::run(MatrixView input, const Segments& inputs) const {
  Matrix out(input.rows(), shape_.width);
  int first = 0;
  for (const kernel::Weights& weights : groups_) {
    const int count = weights.outputs;
    const Matrix around =
        side_by_side(columns(input, first, count), inputs, shape_.convolution->size);
    const std::span<const float> bias(bias_.data() + first, static_cast<size_t>(count));
    kernel::linear(around, weights, {bias, {}, {}}, columns(MatrixSpan(out), first, count));
    first += count;
  }
  return out;
}

void Convolution::apply(MatrixView input, const Segments& inputs, MatrixSpan x) const {
  Matrix beside = run(input, inputs);
  kernel::activate(beside, shape_.convolution->activation, beside);
  add(beside, x);
  apply_norm(shape_, norm_, x, x);
}

Matrix Convolution::backward(MatrixView input, MatrixView x, const Segments& inputs,
                             Propagation& how, MatrixSpan gradient) const {
  const Matrix before = run(input, inputs);
  Matrix sum(x.rows(), x.columns());
  kernel::activate(before, shape_.convolution->activation, sum);
  add(x, sum);
  apply_norm_backward(shape_, norm_, sum, how, gradient, kernel::Into::store, gradient);
  Matrix beside = std::move(sum);  // from here on, the gradient of what was added
  copy(gradient, beside);
  kernel::activation_backward(before, shape_.convolution->activation, how.slope, beside);
  how.absorb(beside, bias_);
  Matrix out(input.rows(), input.columns());
  int first = 0;
  for (const kernel::Weights& weights : groups_) {
    Matrix around(input.rows(), weights.inputs);
    kernel::linear(columns(MatrixView(beside), first, weights.outputs), kernel::transposed(weights),
                   {}, around);
    add_back(around, inputs, shape_.convolution->size,
             columns(MatrixSpan(out), first, weights.outputs));
    first += weights.outputs;
  }
  return out;
}

}  // namespace headwater
