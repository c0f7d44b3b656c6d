// Every instruction set's solver against the plain one, on tasks that the method never asks for.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "headwater/core/error.h"
#include "headwater/kernel/flow/columns.h"
#include "headwater/kernel/flow/memory.h"
#include "headwater/method/flow/certificate.h"
#include "tests/flow/kinds.h"
#include "tests/flow/made.h"
#include "tests/kernel/each_kernel.h"

namespace headwater::test {
namespace {

using kernel::IntArray;
using kernel::Kernels;

IntArray random_vector(int n, int stride, int64_t total, std::mt19937& random) {
  IntArray out(stride);
  std::exponential_distribution<double> weight(1);
  std::vector<double> parts(static_cast<size_t>(n));
  for (double& x : parts) x = std::pow(weight(random), 3.0);
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (int u = 0; u < n; ++u)
    out[u] = static_cast<int32_t>(parts[static_cast<size_t>(u)] / sum * static_cast<double>(total));
  return out;
}

TEST(FlowSolver, EveryInstructionSetAgreesWithThePlainOne) {
  std::mt19937 random(7);
  for (const std::string& kind : kinds()) {
    for (int n : {1, 2, 15, 16, 17, 37}) {
      const Capacities capacities = capacities_of(stack_of(kind, n, 6, 11));
      const FlowCheck check(capacities);
      const kernel::FlowNetwork network = capacities.network();
      const auto plain = kernel::reference().flow.solver(network);
      for (const Kernels& kernels : kernel::fast_kernels()) {
        const auto solver = kernels.flow.solver(network);
        for (int round = 0; round < 12; ++round) {
          const int bottom = static_cast<int>(random() % 4) + 1;
          const IntArray supply = random_vector(n, capacities.stride(), kernel::flow_unit, random);
          const IntArray demand =
              random_vector(n, capacities.stride(),
                            kernel::flow_unit / (1 + static_cast<int>(random() % 3)), random);
          kernel::FlowTask task;
          task.supply = supply.data();
          task.demand = demand.data();
          task.bottom = bottom;
          task.top = bottom + 1 + static_cast<int>(random() % static_cast<unsigned>(7 - bottom));
          task.column = static_cast<int>(random() % static_cast<unsigned>(n));
          task.source = static_cast<int>(random() % static_cast<unsigned>(n));
          task.limit = kernel::flow_unit;
          task.end = n;
          task.shown = true;
          const int32_t value = plain->solve(task);
          ASSERT_EQ(solver->solve(task), value) << kernels.name << ' ' << kind << ' ' << n;
          check.flow(task, *solver, value);
          check.flow(task, *plain, value);
          task.limit = value;
          ASSERT_EQ(solver->solve(task), value);
        }
      }
    }
  }
}

// A row of bits takes one word, several that share a vector, or several vectors.
TEST(FlowSolver, AgreesWithThePlainOneHoweverLongARowIs) {
  std::mt19937 random(5);
  for (const char* kind : {"bert-sink", "softmax-1", "permuted", "causal"}) {
    for (int n : {60, 100, 150, 270, 530}) {
      const Capacities capacities = capacities_of(stack_of(kind, n, 4, 2));
      const FlowCheck check(capacities);
      const kernel::FlowNetwork network = capacities.network();
      kernel::FlowNetwork transposed = network;
      const kernel::FlowColumns columns(transposed, 1);  // fewer than there are levels
      transposed.columns = &columns;
      const auto plain = kernel::reference().flow.solver(network);
      for (int round = 0; round < 2; ++round) {
        kernel::FlowTask task;
        task.source = n - 1 - static_cast<int>(random() % static_cast<unsigned>(n / 4));
        task.column = static_cast<int>(random() % static_cast<unsigned>(n / 2));
        task.top = 3 + round;
        task.supply = capacities.row(task.top, task.source);
        task.demand = capacities.bottom_column(task.column);
        task.limit = kernel::flow_unit;
        task.end = n;
        task.shown = true;
        const int32_t value = plain->solve(task);
        for (const Kernels& kernels : kernel::fast_kernels()) {
          for (const kernel::FlowNetwork* one : {&network, &std::as_const(transposed)}) {
            const auto solver = kernels.flow.solver(*one);
            ASSERT_EQ(solver->solve(task), value) << kernels.name << ' ' << kind << ' ' << n;
            check.flow(task, *solver, value);
            SinkCheck sink(check, task.column, 1);
            if (solver->has_cut()) sink.add_cut(task, *solver, value);
          }
        }
      }
    }
  }
}

// What a flow collected is not in the rows, and must not be missed there.
TEST(FlowSolver, AFlowThatEndsEarlyAndUnseenLeavesNothingBehind) {
  std::mt19937 random(9);
  for (const char* kind : {"bert", "bert-sink", "bert-bare", "softmax", "permuted"}) {
    for (int n : {40, 130}) {
      const Capacities capacities = capacities_of(stack_of(kind, n, 5, 4));
      const FlowCheck check(capacities);
      kernel::FlowNetwork network = capacities.network();
      const kernel::FlowColumns columns(network, 5);
      network.columns = &columns;
      const auto plain = kernel::reference().flow.solver(network);
      for (const Kernels& kernels : kernel::fast_kernels()) {
        const auto solver = kernels.flow.solver(network);
        for (int round = 0; round < 10; ++round) {
          kernel::FlowTask task;
          task.source = static_cast<int>(random() % static_cast<unsigned>(n));
          task.column = static_cast<int>(random() % static_cast<unsigned>(n));
          task.top = 3 + round % 3;
          task.supply = capacities.row(task.top, task.source);
          task.demand = capacities.bottom_column(task.column);
          task.limit = kernel::flow_unit;
          task.end = n;
          const int32_t value = plain->solve(task);
          for (const int part : {1, 2, 4}) {
            task.limit = value / part;
            ASSERT_EQ(solver->solve(task), task.limit) << kernels.name << ' ' << kind << ' ' << n;
          }
          task.limit = kernel::flow_unit;
          ASSERT_EQ(solver->solve(task), value) << kernels.name << ' ' << kind << ' ' << n;
          task.shown = true;
          ASSERT_EQ(solver->solve(task), value) << kernels.name << ' ' << kind << ' ' << n;
          check.flow(task, *solver, value);
        }
      }
    }
  }
}

// From layer to layer, with the flow of the layer below or without.
TEST(FlowSolver, ARaisedFlowIsAMaximumFlow) {
  std::mt19937 random(3);
  for (const std::string& kind : kinds()) {
    for (int n : {1, 15, 33, 70}) {
      const Capacities capacities = capacities_of(stack_of(kind, n, 8, 5));
      const FlowCheck check(capacities);
      const kernel::FlowNetwork network = capacities.network();
      const auto plain = kernel::reference().flow.solver(network);
      for (const Kernels& kernels : kernel::fast_kernels()) {
        const auto solver = kernels.flow.solver(network);
        for (int round = 0; round < 6; ++round) {
          kernel::FlowTask task;
          task.column = static_cast<int>(random() % static_cast<unsigned>(n));
          task.source = static_cast<int>(random() % static_cast<unsigned>(n));
          task.demand = capacities.bottom_column(task.column);
          task.limit = kernel::flow_unit;
          task.end = n;
          SinkCheck sink(check, task.column, 7);
          for (task.top = 3; task.top <= 8; ++task.top) {
            task.supply = capacities.row(task.top, task.source);
            task.shown = round % 2 == 0;
            const int32_t value = plain->solve(task);
            ASSERT_EQ(task.top == 3 ? solver->solve(task) : solver->raise(task), value)
                << kernels.name << ' ' << kind << ' ' << n << ' ' << task.top;
            if (task.shown) check.flow(task, *solver, value);
            if (solver->has_cut()) sink.add_cut(task, *solver, value);
          }
        }
      }
    }
  }
}

TEST(FlowColumns, AreThoseOfTheRowsForAsManyLevelsAsThereMayBe) {
  for (int n : {1, 16, 21}) {
    const Capacities capacities = capacities_of(stack_of("bert", n, 3, 1));
    const kernel::FlowNetwork network = capacities.network();
    const kernel::FlowColumns columns(network, 2);
    for (int k : {3, 1, 3, 2}) columns.transpose(k);
    EXPECT_EQ(columns.column(2, 0), nullptr);
    for (int k : {1, 3})
      for (int v = 0; v < n; ++v)
        for (int u = 0; u < capacities.stride(); ++u)
          ASSERT_EQ(columns.column(k, v)[u], u < n && u != v ? network.row(k, u)[v] : 0)
              << k << ' ' << u << ' ' << v;
  }
}

TEST(FlowSolver, SumsOfMinimaAgreeWithThePlainOnes) {
  std::mt19937 random(1);
  for (const Kernels& kernels : kernel::fast_kernels()) {
    for (int blocks = 0; blocks < 9; ++blocks) {
      const int count = blocks * kernel::flow_block;
      IntArray a(count), b(count), sums(count), expected(count);
      for (int j = 0; j < count; ++j) {
        a[j] = static_cast<int32_t>(random() >> 2);
        b[j] = static_cast<int32_t>(random() >> 2);
        sums[j] = expected[j] = static_cast<int32_t>(random() >> 2);
      }
      EXPECT_EQ(kernels.flow.sum_of_minima(a.data(), b.data(), 0, count),
                kernel::reference().flow.sum_of_minima(a.data(), b.data(), 0, count));
      kernels.flow.add_minima(1 << 28, a.data(), sums.data(), 0, count);
      kernel::reference().flow.add_minima(1 << 28, a.data(), expected.data(), 0, count);
      for (int j = 0; j < count; ++j) EXPECT_EQ(sums[j], expected[j]);
    }
  }
}

// A wrong value must not pass.
TEST(FlowCertificate, RefusesWhatIsNotSo) {
  const Capacities capacities = capacities_of(stack_of("bert", 12, 4, 1));
  const FlowCheck check(capacities);
  const kernel::FlowNetwork network = capacities.network();
  const auto own = kernel::in_use().flow.solver(network);
  kernel::FlowTask task;
  task.supply = capacities.row(4, 3);
  task.demand = capacities.bottom_column(5);
  task.top = 4;
  task.column = 5;
  task.source = 3;
  task.limit = kernel::flow_unit;
  task.end = 12;
  const int32_t value = own->solve(task);
  check.flow(task, *own, value);
  EXPECT_THROW(check.flow(task, *own, value - 1), Error);
  SinkCheck sink(check, 5, 3);
  if (own->has_cut()) {
    EXPECT_THROW(sink.add_cut(task, *own, value + 1), Error);
    sink.add_cut(task, *own, value);
    sink.bounded(3, 4, value, nullptr);
  }
  EXPECT_THROW(sink.bounded(3, 4, value - 1, nullptr), Error);
  EXPECT_THROW(check.takes_in_all(5, check.intake(5) - 1), Error);
}

}  // namespace
}  // namespace headwater::test
