#include "headwater/result/merge.h"

namespace headwater {

Matrix merge(MatrixView values, const std::vector<std::vector<int>>& rows,
             const std::vector<std::vector<int>>& columns) {
  Matrix merged(static_cast<int>(rows.size()), static_cast<int>(columns.size()));
  for (int r = 0; r < merged.rows(); ++r) {
    const std::vector<int>& own = rows[static_cast<size_t>(r)];
    for (int c = 0; c < merged.columns(); ++c) {
      double sum = 0;
      for (const int i : own)
        for (const int j : columns[static_cast<size_t>(c)])
          sum += static_cast<double>(values(i, j));
      merged(r, c) = static_cast<float>(sum / static_cast<double>(own.size()));
    }
  }
  return merged;
}

}  // namespace headwater
