// One layer by every combination of options, against plain loops in double.
#include <gtest/gtest.h>

#include "headwater/layer/layers.h"
#include "tests/support/in_memory.h"
#include "tests/support/reference_pipeline.h"

namespace headwater::test {
namespace {

std::vector<Options> all_options() {
  std::vector<Options> all;
  for (double residual : {0.0, 0.3, 0.5})
    for (double discard : {0.0, 0.1, 0.5, 0.9})
      for (Order order : {Order::residual_first, Order::discard_first})
        for (Empty empty : {Empty::identity, Empty::zero})
          for (Divide divide : {Divide::always, Divide::changed}) {
            Options options;
            options.residual = residual;
            options.discard = discard;
            options.order = order;
            options.empty = empty;
            options.divide = divide;
            all.push_back(options);
          }
  return all;
}

// Rows that do not sum to 1, one of them empty.
Attention unnormalised(int n, unsigned seed, Weights weights) {
  Attention attention = random_attention(1, 1, 1, n, seed, weights);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      attention.at(0, 0, 0, i, j) *= i == n / 2 ? 0 : 0.5 + static_cast<double>(i);
  return attention;
}

TEST(PreparedLayers, AreThoseOfPlainLoopsForEveryOption) {
  for (Weights weights : {Weights::smooth, Weights::causal})
    for (int n : {1, 2, 5, 17})
      for (bool normalised : {true, false})
        for (const Options& options : all_options()) {
          const Attention attention =
              normalised ? random_attention(1, 1, 1, n, 51, weights) : unnormalised(n, 52, weights);
          Grid expected = fuse(attention, 0, 0, Fuse::mean);
          const int empty = prepare(expected, options);
          Matrix map(n, n);
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) map(i, j) = static_cast<float>(attention.at(0, 0, 0, i, j));
          SCOPED_TRACE(testing::Message()
                       << "n " << n << ", residual " << options.residual << ", discard "
                       << options.discard << ", " << to_string(options.order) << ", empty "
                       << to_string(options.empty) << ", divide " << to_string(options.divide));
          EXPECT_EQ(prepare_layer(map, options), empty);
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
              ASSERT_NEAR(map(i, j), expected[static_cast<size_t>(i)][static_cast<size_t>(j)],
                          2e-6 * (1 + expected[static_cast<size_t>(i)][static_cast<size_t>(j)]))
                  << i << ", " << j;
        }
}

TEST(PreparedLayers, KeepAFirstLayerAsItIsByPresetMetrics) {
  Attention attention = unnormalised(4, 53, Weights::smooth);
  ReadOptions any;
  any.any_sums = true;
  InMemory memory(attention, any);
  const auto source = memory.item();
  Layers layers(*source, options_of(Preset::metrics));
  layers.each(Direction::up, [&](int, MatrixSpan map) {
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(map(3, j), static_cast<float>(attention.at(0, 0, 0, 3, j)));
  });
  EXPECT_TRUE(layers.notes().empty());
}

TEST(PreparedLayers, CountEmptiedRowsOnceInTheNotes) {
  Attention attention = unnormalised(4, 54, Weights::smooth);
  ReadOptions any;
  any.any_sums = true;
  InMemory memory(attention, any);
  const auto source = memory.item();
  Options options;
  options.residual = 0;
  options.discard = 0.1;
  for (Empty empty : {Empty::identity, Empty::zero}) {
    options.empty = empty;
    Layers layers(*source, options);
    for (int pass = 0; pass < 2; ++pass) layers.each(Direction::up, [](int, MatrixSpan) {});
    ASSERT_EQ(layers.notes().size(), 1u);
    EXPECT_EQ(layers.notes()[0].substr(0, 9), "1 row(s) ") << layers.notes()[0];
  }
}

}  // namespace
}  // namespace headwater::test
