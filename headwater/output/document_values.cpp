#include <utility>

#include "headwater/output/document.h"
#include "headwater/result/left_out.h"

namespace headwater {

std::vector<int64_t> Numbers::shape() const {
  std::vector<int64_t> out;
  if (stacked) out.push_back(static_cast<int64_t>(matrices.size()));
  out.push_back(matrices.empty() ? 0 : matrices.front().rows());
  out.push_back(matrices.empty() ? 0 : matrices.front().columns());
  return out;
}

void Numbers::renormalise_columns(std::vector<bool> rows) {
  kept_rows = std::move(rows);
  for (const Matrix& matrix : matrices) {
    std::vector<double>& sums = column_sums.emplace_back(static_cast<size_t>(matrix.columns()));
    for (int r = 0; r < matrix.rows(); ++r)
      if (kept_rows[static_cast<size_t>(r)])
        for (size_t j = 0; j < sums.size(); ++j) sums[j] += double{matrix.row(r)[j]};
  }
}

std::span<const float> Numbers::row(int k, int i, Vector& room) const {
  const Matrix& matrix = matrices[static_cast<size_t>(k)];
  const std::span<const float> row = matrix.row(i);
  if (!kept_rows.empty()) {
    room.assign(row.size(), 0);
    if (!kept_rows[static_cast<size_t>(i)]) return room;
    const std::vector<double>& sums = column_sums[static_cast<size_t>(k)];
    for (size_t j = 0; j < row.size(); ++j)
      if (sums[j] > 0) room[j] = static_cast<float>(row[j] / sums[j]);
    return room;
  }
  if (kept.empty()) return row;
  room.resize(row.size());
  renormalise(row, kept, room);
  return room;
}

std::span<const double> Numbers::exact_row(int k, int i, std::vector<double>& room) const {
  const std::span<const double> row = exact[static_cast<size_t>(k)].row(i);
  if (kept.empty()) return row;
  room.resize(row.size());
  renormalise(row, kept, room);
  return room;
}

const Field* Document::find(std::string_view name) const {
  for (const Field& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

}  // namespace headwater
