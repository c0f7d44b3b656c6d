#include "headwater/model/some_rows.h"

#include <algorithm>

namespace headwater {

std::vector<int> rows_with_numbers(MatrixView x) {
  std::vector<int> out;
  for (int t = 0; t < x.rows(); ++t)
    if (std::ranges::any_of(x.row(t), [](float number) { return number != 0; })) out.push_back(t);
  return out;
}

Matrix chosen(MatrixView x, const std::vector<int>& rows) {
  if (x.rows() == 0) return {};
  Matrix out(static_cast<int>(rows.size()), x.columns());
  for (size_t k = 0; k < rows.size(); ++k)
    std::ranges::copy(x.row(rows[k]), out.row(static_cast<int>(k)).begin());
  return out;
}

void put_back(MatrixView some, const std::vector<int>& rows, MatrixSpan x) {
  if (x.rows() == 0) return;
  for (size_t k = 0; k < rows.size(); ++k)
    std::ranges::copy(some.row(static_cast<int>(k)), x.row(rows[k]).begin());
}

void put_alone(MatrixView some, const std::vector<int>& rows, MatrixSpan x) {
  for (int t = 0; t < x.rows(); ++t) std::ranges::fill(x.row(t), 0.0f);
  put_back(some, rows, x);
}

}  // namespace headwater
