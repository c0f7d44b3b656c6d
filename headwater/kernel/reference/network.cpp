// The operations of network.h in double with plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headwater/kernel/reference/reference.h"
#include "headwater/kernel/reference/scores.h"

namespace headwater::kernel {
namespace plain {
namespace {

double value_of(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::gelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
  }
  return x;
}

double weight_at(const Weights& weights, int output, int input) {
  const std::ptrdiff_t at = weights.input_major ? std::ptrdiff_t{input} * weights.outputs + output
                                                : std::ptrdiff_t{output} * weights.inputs + input;
  return number_at(weights.type,
                   weights.data + at * static_cast<std::ptrdiff_t>(size_of(weights.type)));
}

void linear(MatrixView x, const Weights& weights, const Finish& finish, MatrixSpan out) {
  std::vector<double> row(x.columns());
  for (int o = 0; o < weights.outputs; ++o) {
    for (int k = 0; k < x.columns(); ++k) row[k] = weight_at(weights, o, k);
    for (int t = 0; t < x.rows(); ++t) {
      double sum = finish.bias.empty() ? 0 : finish.bias[o];
      for (int k = 0; k < x.columns(); ++k) sum += row[k] * x(t, k);
      const double result = value_of(finish.activation, sum);
      if (finish.into == Into::store) out(t, o) = static_cast<float>(result);
      if (finish.into == Into::add) out(t, o) = static_cast<float>(out(t, o) + result);
      if (finish.into == Into::multiply) out(t, o) = static_cast<float>(out(t, o) * result);
    }
  }
}

void activate(MatrixView x, Activation activation, MatrixSpan out) {
  for (int t = 0; t < x.rows(); ++t)
    for (int k = 0; k < x.columns(); ++k)
      out(t, k) = static_cast<float>(value_of(activation, x(t, k)));
}

void layer_norm(MatrixView x, std::span<const float> weight, std::span<const float> bias,
                double epsilon, MatrixSpan out) {
  for (int t = 0; t < x.rows(); ++t) {
    double mean = 0, variance = 0;
    for (float value : x.row(t)) mean += value / static_cast<double>(x.columns());
    for (float value : x.row(t))
      variance += (value - mean) * (value - mean) / static_cast<double>(x.columns());
    for (int k = 0; k < x.columns(); ++k) {
      const double normal = (x(t, k) - mean) / std::sqrt(variance + epsilon);
      out(t, k) = static_cast<float>(normal * weight[k] + (bias.empty() ? 0 : bias[k]));
    }
  }
}

void rms_norm(MatrixView x, std::span<const float> weight, double epsilon, MatrixSpan out) {
  for (int t = 0; t < x.rows(); ++t) {
    double square = 0;
    for (float value : x.row(t)) square += double{value} * value / x.columns();
    for (int k = 0; k < x.columns(); ++k)
      out(t, k) = static_cast<float>(x(t, k) / std::sqrt(square + epsilon) * weight[k]);
  }
}

void rotate(MatrixSpan x, int heads, MatrixView cosine, MatrixView sine) {
  const int half = cosine.columns(), size = x.columns() / heads;
  for (int t = 0; t < x.rows(); ++t)
    for (int h = 0; h < heads; ++h)
      for (int d = 0; d < half; ++d) {
        float& first = x(t, h * size + d);
        float& second = x(t, h * size + d + half);
        const double a = first, b = second, c = cosine(t, d), s = sine(t, d);
        first = static_cast<float>(a * c - b * s);
        second = static_cast<float>(b * c + a * s);
      }
}

// The softmax of head h in row r; 0 for keys that it does not see.
std::vector<double> softmax(const Attention& in, int h, int r) {
  const Seen seen = seen_by(in, r);
  std::vector<double> row(in.keys.rows());
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int j = seen.begin; j < seen.end; ++j) {
    row[j] = score_of(in, h, r, j).value;
    largest = std::max(largest, row[j]);
  }
  for (int j = seen.begin; j < seen.end; ++j) sum += row[j] = std::exp(row[j] - largest);
  for (double& p : row) p /= sum;
  return row;
}

void attention(const Attention& in, MatrixSpan out, const HeadMap& fused) {
  const int size = in.queries.columns() / in.heads;
  for (int r = 0; r < in.queries.rows(); ++r) {
    std::vector<double> map(in.keys.rows());
    for (int h = 0; h < in.heads; ++h) {
      const std::vector<double> p = softmax(in, h, r);
      const int value = h / (in.heads / in.groups) * size;
      for (int d = 0; d < (out.rows() > 0 ? size : 0); ++d) {
        double sum = 0;
        for (int j = 0; j < in.keys.rows(); ++j) sum += p[j] * in.values(j, value + d);
        out(r, h * size + d) = static_cast<float>(sum);
      }
      const int place = h - fused.first_head;
      if (place < 0 || place >= fused.count) continue;
      for (size_t j = 0; j < map.size(); ++j) {
        const double here = fused.weight * p[j];
        if (place == 0)
          map[j] = here;
        else if (fused.reduce == Reduce::sum)
          map[j] += here;
        else
          map[j] = fused.reduce == Reduce::max ? std::max(map[j], here) : std::min(map[j], here);
      }
    }
    if (fused.map.rows() > 0)
      std::ranges::transform(map, fused.map.row(r).begin(),
                             [](double x) { return static_cast<float>(x); });
  }
}

}  // namespace
}  // namespace plain

NetworkKernels reference_network() {
  return {plain::linear,   plain::activate, plain::layer_norm,
          plain::rms_norm, plain::rotate,   plain::attention};
}

}  // namespace headwater::kernel
