// Row-major doubles, for the few results that a float cannot hold.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace headwater {

/// Owns rows x columns doubles, all zero at first.
class DoubleMatrix {
 public:
  DoubleMatrix() = default;
  DoubleMatrix(int rows, int columns)
      : data_(static_cast<size_t>(rows) * static_cast<size_t>(columns)),
        rows_(rows),
        columns_(columns) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  std::span<double> row(int i) { return {data_.data() + start(i), static_cast<size_t>(columns_)}; }
  std::span<const double> row(int i) const {
    return {data_.data() + start(i), static_cast<size_t>(columns_)};
  }
  double operator()(int i, int j) const { return row(i)[static_cast<size_t>(j)]; }

 private:
  size_t start(int i) const { return static_cast<size_t>(i) * static_cast<size_t>(columns_); }
  std::vector<double> data_;
  int rows_ = 0, columns_ = 0;
};

}  // namespace headwater
