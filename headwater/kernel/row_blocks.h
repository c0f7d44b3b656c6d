// Rows divided among threads, for operations that treat each row on its own.
#pragma once
#include <algorithm>
#include <cstddef>

#include "headwater/core/parallel.h"

namespace headwater::kernel {

/// task(first row, rows) for all blocks of rows, on several threads if there is enough to do.
/// The blocks are the same for every number of threads.
template <class Task>
void for_row_blocks(int rows, int columns, const Task& task) {
  constexpr int rows_of_a_block = 16;
  // Smaller work is done before another thread wakes up.
  constexpr size_t worth_threads = size_t{1} << 15;
  if (static_cast<size_t>(rows) * static_cast<size_t>(columns) < worth_threads)
    return task(0, rows);
  parallel_for((rows + rows_of_a_block - 1) / rows_of_a_block, [&](int block) {
    const int first = block * rows_of_a_block;
    task(first, std::min(rows_of_a_block, rows - first));
  });
}

}  // namespace headwater::kernel
