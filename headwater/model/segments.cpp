#include "headwater/model/segments.h"

#include <algorithm>

#include "headwater/core/parallel.h"
#include "headwater/core/threads.h"

namespace headwater {

Segments::Segments(std::vector<int> lengths) : lengths_(std::move(lengths)), starts_{0} {
  for (const int length : lengths_) starts_.push_back(starts_.back() + length);
}

void Segments::each(const std::function<void(int k)>& task) const {
  // A thread for each input costs less than all threads for each, unless some would be idle.
  if (count() >= 4 * threads()) return parallel_for(count(), task);
  for (int k = 0; k < count(); ++k) task(k);
}

Angles Segments::angles(const Rope& rope) const {
  if (count() == 1) return headwater::angles(rope, 0, rows(), rows());
  Angles out{Matrix(rows(), rope.size / 2), Matrix(rows(), rope.size / 2)};
  for (int k = 0; k < count(); ++k) {
    const Angles one = headwater::angles(rope, 0, length(k), length(k));
    for (int t = 0; t < length(k); ++t) {
      std::ranges::copy(one.cosine.row(t), out.cosine.row(first(k) + t).begin());
      std::ranges::copy(one.sine.row(t), out.sine.row(first(k) + t).begin());
    }
  }
  return out;
}

std::map<int, Matrix> Segments::distances(const Model& model) const {
  std::map<int, Matrix> out;
  for (const int length : lengths_)
    if (!out.contains(length)) out.emplace(length, model.distances(length));
  return out;
}

}  // namespace headwater
