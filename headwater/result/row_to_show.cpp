#include "headwater/result/row_to_show.h"

#include <algorithm>
#include <numeric>

namespace headwater {

int row_to_show(const Attribution& result) {
  const Matrix& values = values_to_show(result);
  const int n = values.rows();
  if (n <= 1) return 0;
  if (result.gradient) {
    const auto target = std::ranges::find(result.rows, result.gradient->target.logit.row);
    return target == result.rows.end() ? 0 : static_cast<int>(target - result.rows.begin());
  }
  // A list of rows is shown from its first on, also if it has all of them.
  if (n != values.columns() || !std::ranges::is_sorted(result.rows)) return 0;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      if (values(i, j) != 0) return 0;
  return n - 1;
}

std::vector<int> rows_to_show(const Attribution& result) {
  // The values of one column are shown for all rows at once.
  const Row::Kind kind = result.options.row.kind;
  if ((kind != Row::Kind::list && kind != Row::Kind::word) || !result.columns.empty())
    return {row_to_show(result)};
  std::vector<int> rows(result.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

const Matrix& values_to_show(const Attribution& result) {
  const bool from_input = !result.by_layer.empty() && result.by_layer.front() < 0;
  return from_input ? result.values.front() : result.values.back();
}

}  // namespace headwater
