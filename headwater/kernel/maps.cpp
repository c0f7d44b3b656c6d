// The calls of maps.h: they check their arguments, give rows to threads and call the kernels in
// use.
//
// Rows are cut into blocks of a fixed size, whatever the number of threads. The results of the
// blocks are joined in the order of the blocks, so every number of threads gives the same bytes.
#include "headwater/kernel/maps.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <vector>

#include "headwater/core/parallel.h"
#include "headwater/kernel/kernel.h"

namespace headwater::kernel {
namespace {

constexpr int rows_of_a_block = 64;

// Smaller work is done before another thread wakes up.
constexpr size_t worth_threads = size_t{1} << 15;

int blocks_of(int rows) { return (rows + rows_of_a_block - 1) / rows_of_a_block; }

// task(block, first row, rows of the block) for all blocks.
template <class Task>
void for_blocks(int rows, int columns, const Task& task) {
  const auto block = [&](int i) {
    const int first = i * rows_of_a_block;
    task(i, first, std::min(rows_of_a_block, rows - first));
  };
  const int blocks = blocks_of(rows);
  if (static_cast<size_t>(rows) * static_cast<size_t>(columns) >= worth_threads) {
    parallel_for(blocks, block);
  } else {
    for (int i = 0; i < blocks; ++i) block(i);
  }
}

}  // namespace

void fuse_rows(Reduce reduce, bool first, float weight, HeadRows head, MatrixSpan out,
               std::span<float> sums) {
  assert(is_float(head.type));
  assert(sums.size() >= static_cast<size_t>(out.rows()) * static_cast<size_t>(head.heads));
  in_use().maps.fuse_rows(reduce, first, weight, head, out, sums);
}

int prepare(MatrixSpan map, const RowStep& step) {
  assert(map.rows() == map.columns());
  return prepare_rows(map, 0, step);
}

int prepare_rows(MatrixSpan rows, int first, const RowStep& step) {
  assert(first + rows.rows() <= rows.columns());
  const MapKernels& run = in_use().maps;
  std::atomic<int> empty = 0;
  for_blocks(rows.rows(), rows.columns(), [&](int, int begin, int count) {
    empty += run.prepare_rows(rows.rows(begin, count), first + begin, step);
  });
  return empty;
}

void multiply(MatrixView a, MatrixView b, MatrixSpan out) {
  assert(a.columns() == b.rows() && out.rows() == a.rows() && out.columns() == b.columns());
  in_use().maps.multiply(a, b, out);
}

void multiply(std::span<const float> row, MatrixView a, std::span<float> out) {
  assert(row.size() == static_cast<size_t>(a.rows()));
  assert(out.size() == static_cast<size_t>(a.columns()));
  const MapKernels& run = in_use().maps;
  if (a.rows() <= rows_of_a_block) return run.add_rows(row, a, out);
  Matrix parts(blocks_of(a.rows()), a.columns());
  for_blocks(a.rows(), a.columns(), [&](int block, int first, int count) {
    run.add_rows(row.subspan(static_cast<size_t>(first), static_cast<size_t>(count)),
                 a.rows(first, count), parts.row(block));
  });
  std::vector<double> sums(out.size());
  for (int block = 0; block < parts.rows(); ++block) {
    const std::span<const float> part = parts.row(block);
    for (size_t j = 0; j < out.size(); ++j) sums[j] += part[j];
  }
  std::transform(sums.begin(), sums.end(), out.begin(),
                 [](double sum) { return static_cast<float>(sum); });
}

}  // namespace headwater::kernel
