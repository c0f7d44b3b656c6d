#include "headwater/layer/threshold.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <mutex>
#include <vector>

#include "headwater/core/threads.h"

namespace headwater {
namespace {

// Floats that are not negative are ordered as their bits are, so the upper 16 bits sort them into
// bins of a relative width of 1/128; what falls into the one bin that holds rank k is then looked
// at in full.
constexpr int bin_count = 1 << 15;
constexpr int rows_at_once = 64;

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value + 0.0f); }

}  // namespace

float value_of_rank(MatrixView map, int64_t k) {
  assert(k >= 0 && k < static_cast<int64_t>(map.rows()) * map.columns());
  const int blocks = (map.rows() + rows_at_once - 1) / rows_at_once;
  std::vector<int64_t> bins(bin_count);
  std::mutex mutex;
  parallel_for(std::min(blocks, threads()), [&](int worker) {
    const int workers = std::min(blocks, threads());
    // Two counters in turn: equal neighbours are common and would wait for one another.
    std::vector<uint32_t> even(bin_count), odd(bin_count);
    for (int b = worker; b < blocks; b += workers) {
      const int end = std::min(map.rows(), (b + 1) * rows_at_once);
      for (int i = b * rows_at_once; i < end; ++i) {
        const std::span<const float> row = map.row(i);
        size_t j = 0;
        for (; j + 1 < row.size(); j += 2) {
          ++even[bits_of(row[j]) >> 16];
          ++odd[bits_of(row[j + 1]) >> 16];
        }
        if (j < row.size()) ++even[bits_of(row[j]) >> 16];
      }
    }
    std::lock_guard lock(mutex);
    for (int bin = 0; bin < bin_count; ++bin)
      bins[static_cast<size_t>(bin)] +=
          even[static_cast<size_t>(bin)] + odd[static_cast<size_t>(bin)];
  });

  uint32_t bin = 0;
  while (k >= bins[bin]) k -= bins[bin++];
  std::vector<uint32_t> inside;
  inside.reserve(static_cast<size_t>(bins[bin]));
  for (int i = 0; i < map.rows(); ++i)
    for (float value : map.row(i))
      if (bits_of(value) >> 16 == bin) inside.push_back(bits_of(value));
  std::nth_element(inside.begin(), inside.begin() + k, inside.end());
  return std::bit_cast<float>(inside[static_cast<size_t>(k)]);
}

}  // namespace headwater
