#include "headwater/core/matrix.h"

#include <sys/mman.h>

#include <algorithm>

namespace headwater {
namespace {

// Large matrices are mapped: they are zero without being touched, and return to the system at once.
// They use huge pages if available, because every method walks whole matrices. Smaller ones come
// from the heap, which reuses pages: fresh pages fault one by one.
constexpr size_t mapped_from = size_t{8} << 20;

}  // namespace

Matrix::Matrix(int rows, int columns) : rows_(rows), columns_(columns) {
  assert(rows >= 0 && columns >= 0);
  const size_t bytes = (std::max<size_t>(size(), 1) * sizeof(float) + 63) / 64 * 64;
  if (bytes >= mapped_from) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);
    data_ = {static_cast<float*>(memory), Free{bytes}};
  } else {
    float* memory = static_cast<float*>(std::aligned_alloc(64, bytes));
    if (memory == nullptr) throw std::bad_alloc();
    std::fill_n(memory, size(), 0.0f);
    data_ = {memory, Free{bytes}};
  }
}

void Matrix::reuse(int rows, int columns) {
  assert(rows >= 0 && columns >= 0);
  const size_t room = data_ ? data_.get_deleter().bytes / sizeof(float) : 0;
  if (static_cast<size_t>(rows) * static_cast<size_t>(columns) > room) {
    *this = Matrix();  // frees the old memory first, so both never exist at once
    *this = Matrix(rows, columns);
  }
  rows_ = rows;
  columns_ = columns;
}

void Matrix::Free::operator()(float* memory) const {
  if (bytes >= mapped_from)
    munmap(memory, bytes);
  else
    std::free(memory);
}

Matrix Matrix::copy() const {
  Matrix out(rows_, columns_);
  std::copy_n(data(), size(), out.data());
  return out;
}

void copy(MatrixView from, MatrixSpan to) {
  assert(from.rows() == to.rows() && from.columns() == to.columns());
  for (int i = 0; i < from.rows(); ++i) std::ranges::copy(from.row(i), to.row(i).begin());
}

void add(MatrixView from, MatrixSpan to) {
  assert(from.rows() == to.rows() && from.columns() == to.columns());
  for (int i = 0; i < from.rows(); ++i)
    for (int j = 0; j < from.columns(); ++j) to(i, j) += from(i, j);
}

}  // namespace headwater
