// The operations of maps.h in double with plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headwater/kernel/reference/reference.h"

namespace headwater::kernel {
namespace plain {
namespace {

// A number that float cannot hold would be an infinity in the map, so it counts as one.
bool is_weight(double x) { return x >= 0 && x <= std::numeric_limits<float>::max(); }

double joined(Reduce reduce, double a, double b) {
  if (reduce == Reduce::sum) return a + b;
  return reduce == Reduce::max ? std::max(a, b) : std::min(a, b);
}

void fuse_rows(Reduce reduce, bool first, float weight, HeadRows head, MatrixSpan out,
               std::span<float> sums) {
  const auto width = static_cast<std::ptrdiff_t>(size_of(head.type));
  for (int r = 0; r < out.rows(); ++r) {
    std::vector<double> row(out.row(r).begin(), out.row(r).end());
    for (int h = 0; h < head.heads; ++h) {
      double sum = 0;
      for (int j = 0; j < out.columns(); ++j) {
        const std::ptrdiff_t at = h * head.apart + r * head.stride + j;
        const double x = number_at(head.type, head.data + at * width);
        sum += is_weight(x) ? x : std::numeric_limits<double>::quiet_NaN();
        row[j] = first && h == 0 ? weight * x : joined(reduce, row[j], weight * x);
      }
      sums[h * out.rows() + r] = static_cast<float>(sum);
    }
    std::ranges::transform(row, out.row(r).begin(), [](double x) { return static_cast<float>(x); });
  }
}

int prepare_rows(MatrixSpan rows, int first, const RowStep& step) {
  int empty = 0;
  std::vector<double> row(rows.columns());
  for (int r = 0; r < rows.rows(); ++r) {
    double sum = 0;
    for (int j = 0; j < rows.columns(); ++j) {
      const double kept = rows(r, j) < step.threshold ? 0 : rows(r, j);
      row[j] = (1 - step.residual) * kept + (j == first + r ? step.residual : 0);
      sum += row[j];
    }
    if (step.divide && sum == 0) {
      ++empty;
      if (step.empty_keeps) row[first + r] = 1;
    } else if (step.divide) {
      for (double& x : row) x /= sum;
    }
    for (int j = 0; j < rows.columns(); ++j) rows(r, j) = static_cast<float>(row[j]);
  }
  return empty;
}

void add_rows(std::span<const float> weights, MatrixView rows, std::span<float> out) {
  std::vector<double> sum(out.size());
  for (int r = 0; r < rows.rows(); ++r)
    for (size_t j = 0; j < out.size(); ++j)
      sum[j] += double{weights[r]} * rows(r, static_cast<int>(j));
  for (size_t j = 0; j < out.size(); ++j) out[j] = static_cast<float>(sum[j]);
}

void multiply(MatrixView a, MatrixView b, MatrixSpan out) {
  for (int i = 0; i < a.rows(); ++i) add_rows(a.row(i), b, out.row(i));
}

}  // namespace
}  // namespace plain

MapKernels reference_maps() {
  return {plain::fuse_rows, plain::prepare_rows, plain::multiply, plain::add_rows};
}

}  // namespace headwater::kernel
