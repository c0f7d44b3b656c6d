#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "headwater/method/rollout.h"
#include "tests/flow/kinds.h"
#include "tests/flow/made.h"

namespace headwater::test {
namespace {

// A small stack of a random kind.
struct Drawn {
  int n, layers;
  Capacities capacities;
};

Drawn drawn(int most_layers = 6) {
  const std::string kind = *rc::gen::elementOf(kinds());
  const int n = *rc::gen::inRange(1, 20);
  const int layers = *rc::gen::inRange(1, most_layers + 1);
  const unsigned seed = *rc::gen::inRange(0u, 1000000u);
  return {n, layers, capacities_of(stack_of(kind, n, layers, seed))};
}

size_t at(const Drawn& d, int i, int t) { return static_cast<size_t>(i * d.n + t); }

RC_GTEST_PROP(FlowProperty, OneLayerIsTheLayer, ()) {
  const Drawn d = drawn(1);
  const std::vector<int32_t> flow = flows_of(d.capacities).front();
  for (int i = 0; i < d.n; ++i)
    for (int t = 0; t < d.n; ++t) RC_ASSERT(flow[at(d, i, t)] == d.capacities.row(1, i)[t]);
}

RC_GTEST_PROP(FlowProperty, TwoLayersAreASumOfMinima, ()) {
  const int n = *rc::gen::inRange(1, 20);
  const Drawn d{n, 2, capacities_of(stack_of("bert", n, 2, *rc::gen::inRange(0u, 1000000u)))};
  const std::vector<int32_t> flow = flows_of(d.capacities).front();
  for (int i = 0; i < n; ++i)
    for (int t = 0; t < n; ++t) {
      int64_t sum = 0;
      for (int u = 0; u < n; ++u)
        sum += std::min(d.capacities.row(2, i)[u], d.capacities.row(1, u)[t]);
      RC_ASSERT(flow[at(d, i, t)] == sum);
    }
}

RC_GTEST_PROP(FlowProperty, IsAtLeastTheWidestPathAndRolloutAndAtMostBothCuts, ()) {
  const Drawn d = drawn();
  const std::vector<int32_t> flow = flows_of(d.capacities).front();
  const int n = d.n;
  for (int i = 0; i < n; ++i) {
    std::vector<int64_t> widest(static_cast<size_t>(n));
    std::vector<double> rolled(static_cast<size_t>(n));
    for (int u = 0; u < n; ++u) {
      widest[static_cast<size_t>(u)] = d.capacities.row(d.layers, i)[u];
      rolled[static_cast<size_t>(u)] = d.capacities.row(d.layers, i)[u];
    }
    for (int l = d.layers - 1; l >= 1; --l) {
      std::vector<int64_t> wide(static_cast<size_t>(n));
      std::vector<double> next(static_cast<size_t>(n));
      for (int u = 0; u < n; ++u)
        for (int v = 0; v < n; ++v) {
          const int32_t arc = d.capacities.row(l, u)[v];
          wide[static_cast<size_t>(v)] = std::max(
              wide[static_cast<size_t>(v)], std::min<int64_t>(widest[static_cast<size_t>(u)], arc));
          next[static_cast<size_t>(v)] += rolled[static_cast<size_t>(u)] * std::ldexp(arc, -30);
        }
      widest = wide;
      rolled = next;
    }
    int64_t out = 0;
    for (int u = 0; u < n; ++u) out += d.capacities.row(d.layers, i)[u];
    for (int t = 0; t < n; ++t) {
      int64_t in = 0;
      for (int u = 0; u < n; ++u) in += d.capacities.row(1, u)[t];
      RC_ASSERT(flow[at(d, i, t)] >= widest[static_cast<size_t>(t)]);
      RC_ASSERT(flow[at(d, i, t)] >= rolled[static_cast<size_t>(t)] - 1e-3);
      RC_ASSERT(flow[at(d, i, t)] <= out);
      RC_ASSERT(flow[at(d, i, t)] <= in);
    }
  }
}

// Halving every weight of some rows and giving the rest to one column takes capacity away
// elsewhere; so compare with rows left out altogether: a zero row has no capacity.
RC_GTEST_PROP(FlowProperty, NeverGrowsWhenArcsGo, ()) {
  const std::string kind = *rc::gen::elementOf(kinds());
  const int n = *rc::gen::inRange(2, 14), layers = *rc::gen::inRange(1, 6);
  std::vector<Matrix> stack = stack_of(kind, n, layers, *rc::gen::inRange(0u, 1000000u));
  const std::vector<int32_t> before = flows_of(stack);
  const int layer = *rc::gen::inRange(0, layers), row = *rc::gen::inRange(0, n);
  std::ranges::fill(stack[static_cast<size_t>(layer)].row(row), 0.0f);
  const std::vector<int32_t> after = flows_of(stack);
  for (size_t k = 0; k < before.size(); ++k) RC_ASSERT(after[k] <= before[k]);
}

RC_GTEST_PROP(FlowProperty, FollowsARenumberingOfTheTokens, ()) {
  const int n = *rc::gen::inRange(1, 16), layers = *rc::gen::inRange(1, 6);
  // Multiples of 1/64, so that the integers are exact and do not depend on the order of columns.
  const Attention exact = random_attention(layers, 1, 1, n, *rc::gen::inRange(0u, 1000000u));
  std::vector<int> to(static_cast<size_t>(n));
  std::iota(to.begin(), to.end(), 0);
  std::mt19937 random(*rc::gen::inRange(0u, 1000000u));
  std::ranges::shuffle(to, random);
  std::vector<Matrix> plain, renumbered;
  for (int l = 0; l < layers; ++l) {
    plain.emplace_back(n, n);
    renumbered.emplace_back(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const float x = static_cast<float>(exact.at(l, 0, 0, i, j));
        plain.back()(i, j) = x;
        renumbered.back()(to[static_cast<size_t>(i)], to[static_cast<size_t>(j)]) = x;
      }
  }
  const std::vector<int32_t> a = flows_of(plain), b = flows_of(renumbered);
  for (int i = 0; i < n; ++i)
    for (int t = 0; t < n; ++t)
      RC_ASSERT(
          a[static_cast<size_t>(i * n + t)] ==
          b[static_cast<size_t>(to[static_cast<size_t>(i)] * n + to[static_cast<size_t>(t)])]);
}

TEST(Flow, OfCausalAttentionIsZeroAboveTheDiagonal) {
  for (const char* kind : {"causal", "causal-sink", "causal-bare"}) {
    const Capacities capacities = capacities_of(stack_of(kind, 40, 5, 3));
    ASSERT_TRUE(capacities.causal());
    const std::vector<int32_t> flow = flows_of(capacities).front();
    for (int i = 0; i < 40; ++i)
      for (int t = i + 1; t < 40; ++t) EXPECT_EQ(flow[static_cast<size_t>(i * 40 + t)], 0);
  }
}

TEST(Flow, OfOneLayerIsItsRollout) {
  InMemory source(random_attention(1, 1, 3, 9, 4));
  const Attribution flow_of_it = flow(*source.item(), {}, certified());
  const Attribution rollout_of_it = rollout(*source.item());
  for (int i = 0; i < 9; ++i)
    for (int t = 0; t < 9; ++t)
      EXPECT_NEAR(flow_of_it.exact[0](i, t), rollout_of_it.values[0](i, t), 1e-7);
}

}  // namespace
}  // namespace headwater::test
