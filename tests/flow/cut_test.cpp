#include "headwater/method/flow/cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/flow/kinds.h"
#include "tests/flow/made.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

// Whether the sink can still be reached over arcs that are not in the cut.
bool leaks(const Capacities& capacities, const std::vector<CutArc>& cut, int source, int sink) {
  const int n = capacities.n();
  std::vector<bool> reached(static_cast<size_t>(n));
  reached[static_cast<size_t>(source)] = true;
  for (int l = capacities.layers(); l >= 1; --l) {
    std::vector<bool> next(static_cast<size_t>(n));
    for (int u = 0; u < n; ++u)
      for (int v = 0; v < n; ++v) {
        const bool there = reached[static_cast<size_t>(u)] && capacities.row(l, u)[v] > 0;
        const bool taken = std::ranges::any_of(
            cut, [&](const CutArc& a) { return a.layer == l - 1 && a.from == u && a.to == v; });
        if (there && !taken) next[static_cast<size_t>(v)] = true;
      }
    reached = next;
  }
  return reached[static_cast<size_t>(sink)];
}

double cost(const std::vector<CutArc>& cut) {
  double sum = 0;
  for (const CutArc& arc : cut) sum += arc.capacity;
  return sum;
}

// Whether every node passes on what it gets, no arc carries more than it can, and `value` arrives.
bool is_flow(const Capacities& capacities, const std::vector<CutArc>& carried, int source, int sink,
             int32_t value) {
  const size_t n = static_cast<size_t>(capacities.n());
  std::vector<double> here(n);
  here[static_cast<size_t>(source)] = std::ldexp(value, -30);
  for (int l = capacities.layers(); l >= 1; --l) {
    std::vector<double> below(n);
    for (const CutArc& arc : carried) {
      if (arc.layer != l - 1) continue;
      if (arc.capacity > std::ldexp(capacities.row(l, arc.from)[arc.to], -30)) return false;
      here[static_cast<size_t>(arc.from)] -= arc.capacity;
      below[static_cast<size_t>(arc.to)] += arc.capacity;
    }
    if (std::ranges::any_of(here, [](double left) { return left != 0; })) return false;
    here = below;
  }
  return here[static_cast<size_t>(sink)] == std::ldexp(value, -30) &&
         cost(carried) == std::ldexp(value, -30) * capacities.layers();
}

TEST(MinimumCut, CostsTheFlowAndSeparatesItsPair) {
  for (const std::string kind : {"softmax", "bert", "bert-sink", "causal"})
    for (const int layers : {1, 2, 3, 5}) {
      const int n = 7;
      const Capacities capacities = capacities_of(stack_of(kind, n, layers, 11));
      const std::vector<int32_t> flows = flows_of(capacities).front();
      for (int i = 0; i < n; ++i)
        for (int t = 0; t < n; ++t) {
          const auto [cut, carried] = pair_flow(capacities, i, t, 0);
          EXPECT_TRUE(is_flow(capacities, carried, i, t, flows[static_cast<size_t>(i * n + t)]))
              << kind << ", " << layers << " layers, " << i << " to " << t;
          EXPECT_EQ(cost(cut), std::ldexp(flows[static_cast<size_t>(i * n + t)], -30))
              << kind << ", " << layers << " layers, " << i << " to " << t;
          EXPECT_FALSE(leaks(capacities, cut, i, t))
              << kind << ", " << layers << " layers, " << i << " to " << t;
        }
    }
}

TEST(MinimumCut, ComesWithTheFlowOfOnePair) {
  const std::vector<Matrix> layers = stack_of("bert", 6, 4, 3);
  const Attention attention = attention_of(layers);
  InMemory memory(attention);
  Options options = as_they_are();
  options.row = Row::at(2);
  options.layers = {1, 4};
  FlowOptions how;
  how.column = 4;
  how.cut = true;
  const Attribution result = flow(*memory.item(), options, how);
  ASSERT_TRUE(result.cut);
  EXPECT_EQ(cost(*result.cut), result.exact[0].row(0)[0]);
  for (const CutArc& arc : *result.cut) EXPECT_GE(arc.layer, 1);
  EXPECT_EQ(cost(result.carried), 3 * cost(*result.cut));
}

TEST(MinimumCut, IsForOnePairOnly) {
  const Attention attention = attention_of(stack_of("bert", 4, 2, 3));
  InMemory memory(attention);
  FlowOptions how;
  how.cut = true;
  expect_error(Error::Kind::usage, {"`cut`", "one `row` and one `column`"},
               [&] { flow(*memory.item(), {}, how); });
}

}  // namespace
}  // namespace headwater::test
