#include "headwater/method/assemble.h"

#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/result/find_rows.h"

namespace headwater {

Attribution new_result(std::string method, const Layers& layers, const Options& options) {
  Attribution result;
  result.method = std::move(method);
  result.options = options;
  result.layers = layers.range();
  result.source = layers.description();
  result.rows = find_rows(options.row, result.source.tokens, result.source.name);
  result.mean_row = options.row.kind == Row::Kind::mean;
  return result;
}

namespace {

// Weights that are not shares can grow past the largest number over the layers.
void check_finite(const Attribution& result) {
  for (const Matrix& matrix : result.values)
    for (int i = 0; i < matrix.rows(); ++i)
      for (int j = 0; j < matrix.columns(); ++j)
        if (!std::isfinite(matrix.row(i)[static_cast<size_t>(j)]))
          fail(
              "{}: the {} of row {} and column {} is {}, expected a number; the weights grow too "
              "large over the layers: set `divide` to always, or divide each row by its sum first",
              result.source.name, result.method, i, j, matrix.row(i)[static_cast<size_t>(j)]);
}

}  // namespace

void complete(Attribution& result, const Layers& layers, double seconds) {
  check_finite(result);
  for (std::string& note : layers.notes()) result.notes.push_back(std::move(note));
  result.timing.reading = layers.reading_seconds();
  result.timing.preparing = layers.preparing_seconds();
  result.timing.method = std::max(0.0, seconds - result.timing.reading - result.timing.preparing);
}

Matrix take_rows(MatrixView all, const Attribution& result) {
  if (result.mean_row) {
    Matrix mean(1, all.columns());
    std::vector<double> sums(static_cast<size_t>(all.columns()));
    for (int i = 0; i < all.rows(); ++i)
      for (size_t j = 0; j < sums.size(); ++j) sums[j] += static_cast<double>(all.row(i)[j]);
    for (size_t j = 0; j < sums.size(); ++j)
      mean.row(0)[j] = static_cast<float>(sums[j] / all.rows());
    return mean;
  }
  Matrix rows(static_cast<int>(result.rows.size()), all.columns());
  for (size_t r = 0; r < result.rows.size(); ++r)
    std::ranges::copy(all.row(result.rows[r]), rows.row(static_cast<int>(r)).begin());
  return rows;
}

}  // namespace headwater
