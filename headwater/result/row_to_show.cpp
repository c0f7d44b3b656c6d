#include "headwater/result/row_to_show.h"

namespace headwater {

int row_to_show(const Attribution& result) {
  const Matrix& values = values_to_show(result);
  const int n = values.rows();
  if (n <= 1 || n != values.columns()) return 0;
  if (result.gradient) return result.gradient->target.logit.row;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      if (values(i, j) != 0) return 0;
  return n - 1;
}

const Matrix& values_to_show(const Attribution& result) {
  const bool from_input = !result.by_layer.empty() && result.by_layer.front() < 0;
  return from_input ? result.values.front() : result.values.back();
}

}  // namespace headwater
