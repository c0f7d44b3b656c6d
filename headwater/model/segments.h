// Several inputs, one below the other in the rows of one matrix.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/model/model.h"
#include "headwater/model/rope.h"

namespace headwater {

/// Which rows belong to which input. Operations that treat each row on its own, such as a matrix
/// product, need not know; attention does.
class Segments {
 public:
  /// The numbers of rows, and the positions of the first of each; empty: all start at 0.
  explicit Segments(std::vector<int> lengths, std::vector<int> positions = {});

  int count() const { return static_cast<int>(lengths_.size()); }
  int rows() const { return starts_.back(); }
  int first(int k) const { return starts_[static_cast<size_t>(k)]; }
  const std::vector<int>& lengths() const { return lengths_; }
  int length(int k) const { return lengths_[static_cast<size_t>(k)]; }
  int position(int k) const { return positions_[static_cast<size_t>(k)]; }
  /// The position after the last row of input k.
  int end(int k) const { return position(k) + length(k); }

  /// task(k) for each input, several at a time if there are many.
  void each(const std::function<void(int k)>& task) const;

  /// Of all rows.
  Angles angles(const Rope& rope) const;
  /// Model::distances for each end() that occurs.
  std::map<int, Matrix> distances(const Model& model) const;

 private:
  std::vector<int> lengths_, positions_, starts_;
};

}  // namespace headwater
