#include "headwater/model/similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headwater {
namespace {

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t d = 0; d < a.size(); ++d) sum += double{a[d]} * b[d];
  return sum;
}

// A vector of zeros has no direction; it stays as it is.
double length_of(const Vector& v) {
  const double square = product(v, v);
  return square > 0 ? std::sqrt(square) : 1;
}

Vector pooled(const Pooling& pooling, const Vector& weights, MatrixView finished) {
  if (pooling.attention) {
    const Matrix out = pooling.attention->apply(finished);
    return {out.data(), out.data() + out.size()};
  }
  std::vector<double> sums(static_cast<size_t>(finished.columns()));
  for (int t = 0; t < finished.rows(); ++t)
    for (size_t d = 0; d < sums.size(); ++d)
      sums[d] += double{weights[static_cast<size_t>(t)]} * finished.row(t)[d];
  Matrix row(1, finished.columns());
  std::ranges::transform(sums, row.data(), [](double x) { return static_cast<float>(x); });
  const kernel::Weights& map = pooling.project.weights;
  if (map.outputs == 0) return {row.data(), row.data() + row.size()};
  Matrix out(1, map.outputs);
  kernel::linear(row, map, {pooling.project.bias, {}, {}}, out);
  return {out.data(), out.data() + out.size()};
}

}  // namespace

Vector unit_vector(const Pooling& pooling, const std::vector<int>& ids, MatrixView finished) {
  Vector out = pooled(pooling, pooling.weights(ids, finished.rows()), finished);
  const double length = length_of(out);
  for (float& number : out) number = static_cast<float>(number / length);
  return out;
}

Similarity::Scale Similarity::read_scale(const Checkpoint& checkpoint) {
  Scale scale;
  const auto number = [&](const char* name) {
    return checkpoint.vector(
        name, checkpoint.shape(name).empty() ? std::vector<int64_t>() : std::vector<int64_t>{1})[0];
  };
  scale.factor = std::exp(number("logit_scale"));
  if (checkpoint.has("logit_bias")) scale.offset = number("logit_bias");
  return scale;
}

Similarity::Similarity(const Pooling& pooling, std::vector<int> ids, Vector other,
                       const std::string& name, Scale scale)
    : pooling_(pooling),
      ids_(std::move(ids)),
      other_(std::move(other)),
      label_(fmt::format("similarity to '{}'", name)),
      scale_(scale) {}

int Similarity::row(const std::vector<int>& ids, int n) const {
  const Vector weights = pooling_.weights(ids, n);
  return static_cast<int>(std::ranges::max_element(weights) - weights.begin());
}

Matrix Similarity::logits(MatrixView finished) const {
  const Vector own = unit_vector(pooling_, ids_, finished);
  Matrix out(1, 1);
  out(0, 0) = static_cast<float>(scale_.factor * product(own, other_) + scale_.offset);
  return out;
}

void Similarity::backward(MatrixView finished, int, float weight, Propagation& how,
                          MatrixSpan gradient) const {
  const Vector weights = pooling_.weights(ids_, finished.rows());
  const Vector own = pooled(pooling_, weights, finished);
  const double length = length_of(own), cosine = product(own, other_) / length;
  Matrix down(1, static_cast<int>(own.size()));
  for (size_t d = 0; d < own.size(); ++d) {
    const double along = how.slope == kernel::Slope::secant ? 0 : cosine * own[d] / length;
    down.data()[d] = static_cast<float>(weight * scale_.factor * (other_[d] - along) / length);
  }
  how.biases += double{weight} * scale_.offset;
  if (pooling_.attention) return pooling_.attention->backward(finished, down, how, gradient);
  how.absorb(down, pooling_.project.bias);
  if (pooling_.project.weights.outputs > 0) {
    Matrix wide(1, pooling_.project.weights.inputs);
    kernel::linear(down, kernel::transposed(pooling_.project.weights), {}, wide);
    down = std::move(wide);
  }
  for (int t = 0; t < gradient.rows(); ++t)
    for (int d = 0; d < gradient.columns(); ++d)
      gradient(t, d) += weights[static_cast<size_t>(t)] * down(0, d);
}

}  // namespace headwater
