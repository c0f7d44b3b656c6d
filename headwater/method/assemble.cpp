#include "headwater/method/assemble.h"

#include <algorithm>

namespace headwater {

Attribution new_result(std::string method, const Layers& layers, const Options& options) {
  Attribution result;
  result.method = std::move(method);
  result.options = options;
  result.layers = layers.range();
  result.source = layers.description();
  result.rows = resolve(options.row, result.source.tokens, result.source.name);
  result.mean_row = options.row.kind == Row::Kind::mean;
  return result;
}

void complete(Attribution& result, const Layers& layers, double seconds) {
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
