#include <gtest/gtest.h>

#include <algorithm>

#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"
#include "tests/flow/kinds.h"
#include "tests/flow/lemon.h"
#include "tests/flow/made.h"
#include "tests/support/seed.h"

namespace headwater::test {
namespace {

class FlowKind : public testing::TestWithParam<std::string> {};

void expect_equal(const std::vector<int32_t>& ours, const std::vector<int64_t>& lemon) {
  ASSERT_EQ(ours.size(), lemon.size());
  int different = 0;
  for (size_t k = 0; k < ours.size(); ++k) different += ours[k] != lemon[k];
  EXPECT_EQ(different, 0);
}

TEST_P(FlowKind, EqualsLemonForAllPairs) {
  const unsigned seed = seed_of_this_run();
  for (const auto& [n, layers] :
       std::vector<std::pair<int, int>>{{7, 3}, {16, 6}, {33, 4}, {21, 9}}) {
    SCOPED_TRACE(testing::Message() << "n " << n << ", layers " << layers << ", seed " << seed);
    const Capacities capacities = capacities_of(stack_of(GetParam(), n, layers, seed));
    expect_equal(flows_of(capacities).front(), flows_by_lemon(lists_of(capacities, layers), n));
  }
}

TEST_P(FlowKind, EqualsLemonAtFiftyTokens) {
  const unsigned seed = seed_of_this_run();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const Capacities capacities = capacities_of(stack_of(GetParam(), 50, 6, seed));
  expect_equal(flows_of(capacities).front(), flows_by_lemon(lists_of(capacities, 6), 50));
}

TEST_P(FlowKind, EqualsLemonForEveryTopLayer) {
  const unsigned seed = seed_of_this_run();
  constexpr int n = 18, layers = 8;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const Capacities capacities = capacities_of(stack_of(GetParam(), n, layers, seed));
  const std::vector<std::vector<int32_t>> tops = flows_of(capacities, true);
  ASSERT_EQ(tops.size(), static_cast<size_t>(layers));
  for (int top = 1; top <= layers; ++top)
    expect_equal(tops[static_cast<size_t>(top) - 1], flows_by_lemon(lists_of(capacities, top), n));
}

TEST_P(FlowKind, RowsAndPairsAreThoseOfTheWhole) {
  constexpr int n = 20, layers = 6;
  const Capacities capacities = capacities_of(stack_of(GetParam(), n, layers, 5));
  const std::vector<std::vector<int32_t>> whole = flows_of(capacities, true);
  FlowRequest request;
  request.certify = true;
  request.every_top = true;
  request.sources = {13, 2};
  request.sinks = {19, 0, 7};
  const FlowValues some = flow_of_pairs(capacities, request);
  for (size_t top = 0; top < whole.size(); ++top)
    for (size_t r = 0; r < 2; ++r)
      for (size_t c = 0; c < 3; ++c)
        EXPECT_EQ(some.tops[top][r * 3 + c],
                  whole[top][static_cast<size_t>(request.sources[r] * n + request.sinks[c])]);
}

TEST_P(FlowKind, IsTheSameForEveryKernelAndThreadCount) {
  constexpr int n = 24, layers = 6;
  const Capacities capacities = capacities_of(stack_of(GetParam(), n, layers, 9));
  const std::vector<std::vector<int32_t>> first = flows_of(capacities, true);
  const int before = threads();
  for (const std::string& name : kernel::available()) {
    kernel::use(name);
    for (int count : {1, 3}) {
      set_threads(count);
      EXPECT_EQ(flows_of(capacities, true), first) << name << ", " << count << " threads";
    }
  }
  kernel::use("");
  set_threads(before);
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Kinds, FlowKind, testing::ValuesIn(kinds()), name_of);

}  // namespace
}  // namespace headwater::test
