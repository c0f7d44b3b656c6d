#include "headwater/model/segments.h"

#include <algorithm>

#include "headwater/core/parallel.h"

namespace headwater {

Segments::Segments(std::vector<int> lengths, std::vector<int> positions)
    : lengths_(std::move(lengths)), positions_(std::move(positions)), starts_{0} {
  positions_.resize(lengths_.size());
  for (const int length : lengths_) starts_.push_back(starts_.back() + length);
}

void Segments::each(const std::function<void(int k)>& task) const {
  parallel_if_many(count(), task);
}

Angles Segments::angles(const Rope& rope) const {
  if (count() == 1) return headwater::angles(rope, position(0), rows(), end(0));
  Angles out{Matrix(rows(), rope.size / 2), Matrix(rows(), rope.size / 2)};
  for (int k = 0; k < count(); ++k) {
    const Angles one = headwater::angles(rope, position(k), length(k), end(k));
    for (int t = 0; t < length(k); ++t) {
      std::ranges::copy(one.cosine.row(t), out.cosine.row(first(k) + t).begin());
      std::ranges::copy(one.sine.row(t), out.sine.row(first(k) + t).begin());
    }
  }
  return out;
}

std::map<int, Matrix> Segments::distances(const Model& model) const {
  std::map<int, Matrix> out;
  for (int k = 0; k < count(); ++k)
    if (!out.contains(end(k))) out.emplace(end(k), model.distances(end(k)));
  return out;
}

}  // namespace headwater
