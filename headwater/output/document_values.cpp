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

std::span<const float> Numbers::row(int k, int i, Vector& room) const {
  const std::span<const float> row = matrices[static_cast<size_t>(k)].row(i);
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
