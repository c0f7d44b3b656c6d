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

// Floats that are not negative are ordered as their bits are, so the value of a rank is found digit
// by digit from the top: count the digits of all numbers that begin with what is known so far, and
// go on with the one that holds the rank. Once few numbers are left they are looked at in full.
constexpr int most_bits = 14;

// Without the sign: -0 is 0.
uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value) & 0x7fffffffu; }

template <class Task>
void for_some_rows(MatrixView map, const Task& task) {
  const int at_once = std::max(128, map.rows() / 64);
  parallel_for((map.rows() + at_once - 1) / at_once, [&](int b) {
    task(map.rows(b * at_once, std::min(at_once, map.rows() - b * at_once)));
  });
}

using Counts = std::array<int64_t, 1 << most_bits>;

// How often each digit occurs in the `width` bits above `shift`, where `known` stands above them.
template <int shift, int width>
void count_digits(MatrixView map, uint32_t known, Counts& counts) {
  std::mutex mutex;
  counts.fill(0);
  for_some_rows(map, [&](MatrixView rows) {
    // Two counters in turn: equal neighbours are common and would wait for one another.
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

// The bits of all numbers that begin with `known`, in any order.
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
  int64_t rank;  // among the numbers that begin with `known`
  uint32_t known = 0;

  // Adds a digit to what is known: all bits, if few numbers are left.
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
