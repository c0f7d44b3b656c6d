// Row-major float matrices: Matrix owns, MatrixView and MatrixSpan borrow.
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace headwater {

using Vector = std::vector<float>;

/// Borrowed and read only. Pass it by value and never store it: it is valid only as long as its
/// owner. Rows are `stride` floats apart; the entries of a row are contiguous.
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(const float* data, int rows, int columns, std::ptrdiff_t stride)
      : data_(data), rows_(rows), columns_(columns), stride_(stride) {}
  MatrixView(const float* data, int rows, int columns) : MatrixView(data, rows, columns, columns) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  std::ptrdiff_t stride() const { return stride_; }
  const float* data() const { return data_; }
  std::span<const float> row(int i) const {
    return {data_ + i * stride_, static_cast<size_t>(columns_)};
  }
  float operator()(int i, int j) const { return data_[i * stride_ + j]; }
  /// Rows begin ... begin + count - 1.
  MatrixView rows(int begin, int count) const {
    return {data_ + begin * stride_, count, columns_, stride_};
  }

 private:
  const float* data_ = nullptr;
  int rows_ = 0, columns_ = 0;
  std::ptrdiff_t stride_ = 0;
};

/// Borrowed and writable. Otherwise like MatrixView, to which it converts.
class MatrixSpan {
 public:
  MatrixSpan() = default;
  MatrixSpan(float* data, int rows, int columns, std::ptrdiff_t stride)
      : data_(data), rows_(rows), columns_(columns), stride_(stride) {}
  MatrixSpan(float* data, int rows, int columns) : MatrixSpan(data, rows, columns, columns) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  std::ptrdiff_t stride() const { return stride_; }
  float* data() const { return data_; }
  std::span<float> row(int i) const { return {data_ + i * stride_, static_cast<size_t>(columns_)}; }
  float& operator()(int i, int j) const { return data_[i * stride_ + j]; }
  /// Rows begin ... begin + count - 1.
  MatrixSpan rows(int begin, int count) const {
    return {data_ + begin * stride_, count, columns_, stride_};
  }
  operator MatrixView() const { return {data_, rows_, columns_, stride_}; }

 private:
  float* data_ = nullptr;
  int rows_ = 0, columns_ = 0;
  std::ptrdiff_t stride_ = 0;
};

/// Owns rows x columns floats: initially zero, contiguous, 64-byte aligned. It moves; copy()
/// copies. Memory that is never written costs nothing: the system provides zero pages.
class Matrix {
 public:
  Matrix() = default;
  /// Throws std::bad_alloc if the system has no room for it.
  Matrix(int rows, int columns);
  Matrix copy() const;
  /// Changes the shape, and reuses the memory if it is large enough. The entries are then whatever
  /// was left there.
  void reuse(int rows, int columns);

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  size_t size() const { return static_cast<size_t>(rows_) * static_cast<size_t>(columns_); }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::span<float> row(int i) { return MatrixSpan(*this).row(i); }
  std::span<const float> row(int i) const { return MatrixView(*this).row(i); }
  float& operator()(int i, int j) { return MatrixSpan(*this)(i, j); }
  float operator()(int i, int j) const { return MatrixView(*this)(i, j); }
  operator MatrixView() const { return {data_.get(), rows_, columns_}; }
  operator MatrixSpan() { return {data_.get(), rows_, columns_}; }

 private:
  struct Free {
    explicit Free(size_t bytes) : bytes(bytes) {}
    Free() : Free(0) {}
    void operator()(float* memory) const;
    size_t bytes;
  };
  std::unique_ptr<float[], Free> data_;
  int rows_ = 0, columns_ = 0;
};

/// Copies the numbers of `from` into `to`, which has the same shape.
void copy(MatrixView from, MatrixSpan to);
/// Adds them to those of `to`, which has the same shape.
void add(MatrixView from, MatrixSpan to);

}  // namespace headwater
