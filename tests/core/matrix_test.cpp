// The memory of matrices.
#include "headwater/core/matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace headwater {
namespace {

TEST(Matrix, ServesAgainInTheSameMemoryIfItFits) {
  Matrix m(8, 100);
  const float* memory = m.data();
  m.reuse(5, 160);
  EXPECT_EQ(m.data(), memory);
  EXPECT_EQ(m.rows(), 5);
  EXPECT_EQ(m.columns(), 160);
  m.reuse(8, 101);
  EXPECT_EQ(m.size(), 808u);
  std::fill_n(m.data(), m.size(), 1.0f);  // there is room for all of it
}

TEST(Matrix, ServesAgainAfterItWasMovedOrNeverMade) {
  Matrix m(4, 4);
  const Matrix other = std::move(m);
  m.reuse(2, 3);
  std::fill_n(m.data(), m.size(), 1.0f);
  EXPECT_EQ(other(3, 3), 0);
  Matrix none;
  none.reuse(3, 3);
  EXPECT_EQ(none(2, 2), 0);
}

}  // namespace
}  // namespace headwater
