#include "headwater/core/error.h"
#include "headwater/core/threads.h"
#include "tests/kernel/each_kernel.h"

namespace headwater::kernel {
namespace {

class Dispatch : public testing::Test {
 protected:
  ~Dispatch() override {
    use("");
    set_threads(before_);
  }

 private:
  const int before_ = threads();
};

TEST_F(Dispatch, RunsTheBestUnlessToldOtherwise) {
  const std::vector<std::string> names = available();
  ASSERT_GE(names.size(), 2u);
  EXPECT_EQ(names.back(), "reference");
  EXPECT_EQ(name(), names.front());
  for (const std::string& one : names) {
    use(one);
    EXPECT_EQ(name(), one);
  }
  use("");
  EXPECT_EQ(name(), names.front());
}

TEST_F(Dispatch, ListsTheReferenceLastAndGivesTheEntryInUse) {
  EXPECT_EQ(&reference(), &all_kernels().back());
  for (const Kernels& one : all_kernels()) {
    use(one.name);
    EXPECT_EQ(&in_use(), &one);
  }
}

// A group that was filled in for another instruction set would show here.
TEST_F(Dispatch, NoTwoEntriesShareAKernel) {
  for (const Kernels& one : all_kernels())
    for (const Kernels& other : all_kernels()) {
      if (&one == &other) continue;
      EXPECT_NE(one.maps.multiply, other.maps.multiply) << one.name << ' ' << other.name;
      EXPECT_NE(one.network.linear, other.network.linear) << one.name << ' ' << other.name;
      EXPECT_NE(one.backward.attention, other.backward.attention) << one.name << ' ' << other.name;
      EXPECT_NE(one.flow.solver, other.flow.solver) << one.name << ' ' << other.name;
    }
}

TEST_F(Dispatch, NamesAreNotRepeated) {
  std::vector<std::string> names = available();
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST_F(Dispatch, RefusesAnUnknownNameAndKeepsTheOldOne) {
  use("reference");
  try {
    use("refrence");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'reference'"), std::string::npos);
  }
  EXPECT_EQ(name(), "reference");
}

TEST_F(Dispatch, PreparesTheSameBytesForEveryNumberOfThreads) {
  for (int n : {0, 1, 63, 64, 65, 300}) {
    const Matrix map = random_matrix(n, n, 1);
    for (const std::string& one : available()) {
      use(one);
      set_threads(1);
      Matrix want = map.copy();
      const RowStep step{.threshold = 0.1f, .residual = 0.25};
      const int empty = prepare(want, step);
      for (int count : {2, 3, 5}) {
        set_threads(count);
        Matrix got = map.copy();
        EXPECT_EQ(prepare(got, step), empty);
        EXPECT_TRUE(same_bytes(got, want)) << one << " n " << n << " threads " << count;
      }
    }
  }
}

TEST_F(Dispatch, CountsEmptyRowsOfAllThreads) {
  Matrix map(300, 300);
  EXPECT_EQ(prepare(map, {}), 300);
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 300; ++j) ASSERT_EQ(map(i, j), i == j ? 1 : 0);
}

TEST_F(Dispatch, MultipliesARowWithTheSameBytesForEveryNumberOfThreads) {
  for (const auto& [rows, columns] : {std::pair{0, 5}, {1, 1}, {64, 33}, {65, 33}, {700, 513}}) {
    const Matrix a = random_matrix(rows, columns, 1);
    const std::vector<float> row = random_floats(static_cast<size_t>(rows), 2);
    std::vector<float> exact(static_cast<size_t>(columns));
    reference().maps.add_rows(row, a, exact);
    for (const std::string& one : available()) {
      use(one);
      set_threads(1);
      std::vector<float> want(exact.size(), 7.0f);
      multiply(row, a, want);
      for (size_t j = 0; j < want.size(); ++j)
        EXPECT_NEAR(want[j], exact[j], 1e-6 * exact[j]) << one << " " << rows << " x " << columns;
      for (int count : {2, 3, 5}) {
        set_threads(count);
        std::vector<float> got(exact.size());
        multiply(row, a, got);
        EXPECT_EQ(got, want) << one << " threads " << count;
      }
    }
  }
}

TEST_F(Dispatch, MultipliesByTheKernelInUse) {
  const Matrix a = random_matrix(70, 70, 1), b = random_matrix(70, 70, 2);
  for (const Kernels& one : all_kernels()) {
    Matrix want(70, 70), got(70, 70);
    one.maps.multiply(a, b, want);
    use(one.name);
    multiply(a, b, got);
    EXPECT_TRUE(same_bytes(got, want)) << one.name;
  }
}

}  // namespace
}  // namespace headwater::kernel
