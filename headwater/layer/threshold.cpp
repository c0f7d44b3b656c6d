#include "headwater/layer/threshold.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <mutex>
#include <vector>

#include "headwater/core/parallel.h"

namespace headwater {
namespace {

// Non-negative floats sort like their bits. So this finds the value digit by digit, from the top:
// it counts the next digit of all numbers that share the known prefix, and follows the digit that
// holds the rank. Once few numbers are left, it selects among them directly.
constexpr int most_bits = 14;

// Drops the sign: -0 counts as 0.
uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value) & 0x7fffffffu; }

template <class Task>
void for_some_rows(MatrixView map, const Task& task) {
  const int at_once = std::max(128, map.rows() / 64);
  parallel_for((map.rows() + at_once - 1) / at_once, [&](int b) {
    task(map.rows(b * at_once, std::min(at_once, map.rows() - b * at_once)));
  });
}

using Counts = std::array<int64_t, 1 << most_bits>;

// Counts each digit of `width` bits above `shift`, over the numbers whose higher bits are `known`.
template <int shift, int width>
void count_digits(MatrixView map, uint32_t known, Counts& counts) {
  std::mutex mutex;
  counts.fill(0);
  for_some_rows(map, [&](MatrixView rows) {
    // Two counters: equal neighbours are common, and increments of one counter wait for each other.
    std::array<uint32_t, 1 << width> even{}, odd{};
    const auto count = [&](float value, auto& into) {
      const uint32_t bits = bits_of(value) >> shift;
      if (shift + width == 31 || bits >> width == known) ++into[bits % (1u << width)];
    };
    for (int i = 0; i < rows.rows(); ++i) {
      const std::span<const float> row = rows.row(i);
      size_t j = 0;
      for (; j + 1 < row.size(); j += 2) {
        count(row[j], even);
        count(row[j + 1], odd);
      }
      if (j < row.size()) count(row[j], even);
    }
    std::lock_guard lock(mutex);
    for (size_t k = 0; k < even.size(); ++k) counts[k] += int64_t{even[k]} + odd[k];
  });
}

// The bits of all numbers that start with `known`, in any order.
template <int shift>
std::vector<uint32_t> take_out(MatrixView map, uint32_t known, int64_t count) {
  std::vector<uint32_t> all;
  all.reserve(static_cast<size_t>(count));
  std::mutex mutex;
  for_some_rows(map, [&](MatrixView rows) {
    std::vector<uint32_t> found;
    for (int i = 0; i < rows.rows(); ++i)
      for (const float value : rows.row(i))
        if (bits_of(value) >> shift == known) found.push_back(bits_of(value));
    std::lock_guard lock(mutex);
    all.insert(all.end(), found.begin(), found.end());
  });
  return all;
}

struct Search {
  MatrixView map;
  int64_t rank;  // among the numbers that start with `known`
  uint32_t known = 0;

  // Finds the next digit, or all the remaining bits once few numbers are left.
  template <int shift, int width>
  bool finds_all() {
    Counts counts;
    count_digits<shift, width>(map, known, counts);
    uint32_t digit = 0;
    while (rank >= counts[digit]) rank -= counts[digit++];
    known = known << width | digit;
    if (shift == 0) return true;
    if (counts[digit] > int64_t{map.rows()} * map.columns() / 16) return false;
    std::vector<uint32_t> left = take_out<shift>(map, known, counts[digit]);
    std::nth_element(left.begin(), left.begin() + rank, left.end());
    known = left[static_cast<size_t>(rank)];
    return true;
  }
};

}  // namespace

float value_of_rank(MatrixView map, int64_t k) {
  assert(k >= 0 && k < int64_t{map.rows()} * map.columns());
  Search search{map, k};
  static_cast<void>(search.finds_all<17, most_bits>() || search.finds_all<3, most_bits>() ||
                    search.finds_all<0, 3>());
  return std::bit_cast<float>(search.known);
}

}  // namespace headwater
