// The operations of backward.h in double with plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headwater/kernel/reference/reference.h"
#include "headwater/kernel/reference/scores.h"

namespace headwater::kernel {
namespace plain {
namespace {

using Doubles = std::vector<double>;

void put(Into into, double number, float& to) {
  to = static_cast<float>(into == Into::add ? to + number : number);
}

// With z = (x - mean) scale and g = gradient weight: dx = scale (g - mean(g) - z mean(g z)); the
// RMS norm's mean is 0, also that of g. The secant has no term in z.
void norm_row(std::span<const float> x, std::span<const float> weight, double mean, double scale,
              Slope slope, std::span<const float> gradient, bool centred, Into into,
              std::span<float> dx) {
  const auto count = static_cast<double>(x.size());
  double sum = 0, along = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    const double g = double{gradient[k]} * weight[k];
    sum += g / count;
    along += g * (x[k] - mean) * scale / count;
  }
  if (!centred) sum = 0;
  if (slope == Slope::secant) along = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    const double g = double{gradient[k]} * weight[k];
    put(into, scale * (g - sum - (x[k] - mean) * scale * along), dx[k]);
  }
}

void layer_norm(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                MatrixView gradient, Into into, MatrixSpan dx) {
  for (int t = 0; t < x.rows(); ++t) {
    double mean = 0, variance = 0;
    for (const float value : x.row(t)) mean += double{value} / x.columns();
    for (const float value : x.row(t)) variance += (value - mean) * (value - mean) / x.columns();
    norm_row(x.row(t), weight, mean, 1 / std::sqrt(variance + epsilon), slope, gradient.row(t),
             true, into, dx.row(t));
  }
}

void rms_norm(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
              MatrixView gradient, Into into, MatrixSpan dx) {
  for (int t = 0; t < x.rows(); ++t) {
    double square = 0;
    for (const float value : x.row(t)) square += double{value} * value / x.columns();
    norm_row(x.row(t), weight, 0, 1 / std::sqrt(square + epsilon), slope, gradient.row(t), false,
             into, dx.row(t));
  }
}

struct Activated {
  double value, slope;  // the slope of the tangent
};

// x s(x) with s the logistic function of `times` x.
Activated gated_linear(double x, double times) {
  const double s = 1 / (1 + std::exp(-times * x));
  return {x * s, s + times * x * s * (1 - s)};
}

Activated activated(Activation activation, double x) {
  const double pi = std::acos(-1.0);
  switch (activation) {
    case Activation::none:
      return {x, 1};
    case Activation::gelu: {
      const double below = (1 + std::erf(x / std::sqrt(2.0))) / 2;
      return {x * below, below + x * std::exp(-x * x / 2) / std::sqrt(2 * pi)};
    }
    case Activation::gelu_tanh: {
      const double t = std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x));
      const double inner = std::sqrt(2 / pi) * (1 + 3 * 0.044715 * x * x);
      return {x / 2 * (1 + t), (1 + t) / 2 + x / 2 * (1 - t * t) * inner};
    }
    case Activation::quick_gelu:
      return gated_linear(x, 1.702);
    case Activation::relu:
      return {x > 0 ? x : 0, x > 0 ? 1.0 : 0.0};
    case Activation::silu:
      return gated_linear(x, 1);
    case Activation::tanh:
      return {std::tanh(x), 1 - std::tanh(x) * std::tanh(x)};
  }
  return {x, 1};
}

double slope_at(const Activated& at, double x, Slope slope) {
  return slope == Slope::secant && x != 0 ? at.value / x : at.slope;
}

void activation(MatrixView x, Activation activation, Slope slope, MatrixSpan gradient) {
  for (int t = 0; t < x.rows(); ++t)
    for (int k = 0; k < x.columns(); ++k) {
      const Activated at = activated(activation, x(t, k));
      gradient(t, k) = static_cast<float>(gradient(t, k) * slope_at(at, x(t, k), slope));
    }
}

void gated(Activation activation, Slope slope, MatrixView gradient, MatrixSpan gate,
           MatrixSpan up) {
  const double share = slope == Slope::secant ? 0.5 : 1;
  for (int t = 0; t < gradient.rows(); ++t)
    for (int k = 0; k < gradient.columns(); ++k) {
      const Activated at = activated(activation, gate(t, k));
      const double g = share * gradient(t, k), by = slope_at(at, gate(t, k), slope);
      gate(t, k) = static_cast<float>(g * up(t, k) * by);
      up(t, k) = static_cast<float>(g * at.value);
    }
}

// A row of P and of dP, of head h, and the slope of the cap; 0 for keys that the row does not see.
struct HeadRow {
  Doubles p, dp, slope;
};

HeadRow head_row(const Attention& in, MatrixView gradient, Slope cap, int h, int r) {
  const int size = in.queries.columns() / in.heads, key = h / (in.heads / in.groups) * size;
  const auto n = static_cast<size_t>(in.keys.rows());
  const Seen seen = seen_by(in, r);
  HeadRow row{Doubles(n), Doubles(n), Doubles(n)};
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int j = seen.begin; j < seen.end; ++j) {
    const Score score = score_of(in, h, r, j);
    for (int d = 0; d < size; ++d)
      row.dp[j] += double{gradient(r, h * size + d)} * in.values(j, key + d);
    row.p[j] = score.value;
    const double x = in.cap == 0 ? 0 : score.uncapped / in.cap;
    row.slope[j] = in.cap == 0 ? 1 : slope_at(activated(Activation::tanh, x), x, cap);
    largest = std::max(largest, row.p[j]);
  }
  for (int j = seen.begin; j < seen.end; ++j) sum += row.p[j] = std::exp(row.p[j] - largest);
  for (double& p : row.p) p /= sum;
  return row;
}

void join(const HeadMap& fused, bool positive, const HeadRow& row, int h, Doubles& map) {
  const int place = h - fused.first_head;
  if (place < 0 || place >= fused.count) return;
  for (size_t j = 0; j < map.size(); ++j) {
    const double product = row.p[j] * row.dp[j];
    const double here = fused.weight * (positive ? std::max(0.0, product) : product);
    if (place == 0)
      map[j] = here;
    else if (fused.reduce == Reduce::sum)
      map[j] += here;
    else
      map[j] = fused.reduce == Reduce::max ? std::max(map[j], here) : std::min(map[j], here);
  }
}

void copy_down(const Doubles& from, MatrixSpan to) {
  for (int j = 0; j < to.rows(); ++j)
    for (int k = 0; k < to.columns(); ++k)
      to(j, k) =
          static_cast<float>(from[static_cast<size_t>(j * std::ptrdiff_t{to.columns()} + k)]);
}

// Adds what a row's slopes give the numbers of its buckets.
void add_to_buckets(const Attention& in, const AttentionRule& rule, const HeadRow& row,
                    double along, int h, int r, Doubles& queries, Doubles& keys) {
  const Buckets& buckets = in.buckets;
  const int n = in.keys.rows();
  for (int j = 0; j < n; ++j) {
    const double ds = rule.buckets * row.p[j] * (row.dp[j] - along);
    const int column = h * buckets.count + buckets.of[static_cast<size_t>(j - r + n - 1)];
    const std::ptrdiff_t width = std::ptrdiff_t{in.heads} * buckets.count;
    queries[static_cast<size_t>(r * width + column)] += ds;
    keys[static_cast<size_t>(j * width + column)] += ds;
  }
}

void attention(const Attention& in, MatrixView gradient, const AttentionRule& rule,
               const AttentionGradient& out, const HeadMap& fused) {
  const int n = in.keys.rows(), size = in.queries.columns() / in.heads;
  const std::ptrdiff_t width = in.keys.columns();
  Doubles dk(static_cast<size_t>(n * width)), dv(dk.size()), map(static_cast<size_t>(n));
  const bool has_buckets = rule.scores != 0 && in.buckets.count > 0;
  Doubles by_query(static_cast<size_t>(has_buckets ? std::ptrdiff_t{n} * in.heads * in.buckets.count
                                                   : std::ptrdiff_t{0}));
  Doubles by_key(by_query.size());
  for (int r = 0; r < in.queries.rows(); ++r) {
    for (int h = 0; h < in.heads; ++h) {
      const int key = h / (in.heads / in.groups) * size;
      const HeadRow row = head_row(in, gradient, rule.cap, h, r);
      join(fused, rule.positive, row, h, map);
      double along = 0;
      for (int j = 0; j < n; ++j) along += row.p[j] * row.dp[j];
      if (has_buckets) add_to_buckets(in, rule, row, along, h, r, by_query, by_key);
      for (int d = 0; d < size; ++d) {
        double dq = 0;
        for (int j = 0; j < n; ++j) {
          const double ds = rule.scores * in.scale * row.p[j] * (row.dp[j] - along) * row.slope[j];
          const auto at = static_cast<size_t>(j * width + key + d);
          dq += ds * in.keys(j, key + d);
          dk[at] += ds * in.queries(r, h * size + d);
          dv[at] += rule.values * row.p[j] * gradient(r, h * size + d);
        }
        if (rule.scores != 0) out.queries(r, h * size + d) = static_cast<float>(dq);
      }
    }
    for (int j = 0; j < fused.map.columns(); ++j) fused.map(r, j) = static_cast<float>(map[j]);
  }
  if (rule.scores != 0) copy_down(dk, out.keys);
  if (has_buckets) {
    copy_down(by_query, out.bucket_queries);
    copy_down(by_key, out.bucket_keys);
  }
  copy_down(dv, out.values);
}

double weighted_sum(MatrixView x, std::span<const float> weight) {
  double sum = 0;
  for (int t = 0; t < x.rows(); ++t)
    for (size_t d = 0; d < weight.size(); ++d) sum += double{x.row(t)[d]} * weight[d];
  return sum;
}

}  // namespace
}  // namespace plain

BackwardKernels reference_backward() {
  return {plain::layer_norm, plain::rms_norm,  plain::activation,
          plain::gated,      plain::attention, plain::weighted_sum};
}

}  // namespace headwater::kernel
