// One row of average and raw: the same numbers as in the whole, and no more work than a row.
#include "headwater/method/average.h"

#include <gtest/gtest.h>

#include "headwater/open.h"
#include "tests/support/in_memory.h"

namespace headwater::test {
namespace {

constexpr int n = 9, block = 2;

/// Hands out attention in blocks of two rows, as a model can, and counts them. The test fails if a
/// whole map is asked for.
class InBlocks : public Source {
 public:
  explicit InBlocks(const Attention& attention) : memory_(attention), source_(memory_.item()) {}

  const Description& description() const override { return source_->description(); }
  void layers(Fuse, Range, Direction, const Visit&) override {
    ADD_FAILURE() << "a whole map was made";
  }
  void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) override {
    source_->layers(fuse, range, direction, [&](int layer, MatrixSpan map) {
      for (int first = 0; first < n; first += block) {
        const int count = std::min(block, n - first);
        if (!visitor.wants(layer, first, count)) continue;
        ++blocks;
        Matrix rows(count, n);
        for (int i = 0; i < count; ++i)
          for (int j = 0; j < n; ++j) rows(i, j) = map(first + i, j);
        visitor.take(layer, first, rows);
      }
    });
  }

  int blocks = 0;

 private:
  InMemory memory_;
  std::unique_ptr<Source> source_;
};

void expect_row(const Attribution& one, const Attribution& all, int row) {
  EXPECT_EQ(one.rows, std::vector<int>{row});
  ASSERT_EQ(one.values[0].rows(), 1);
  ASSERT_EQ(one.values[0].columns(), all.values[0].columns());
  for (int j = 0; j < one.values[0].columns(); ++j)
    EXPECT_EQ(one.values[0](0, j), all.values[0](row, j)) << row << ", " << j;
}

TEST(OneRow, OfAverageAndRawIsThatOfAllRows) {
  InMemory memory(random_attention(4, 1, 3, n, 51, Weights::smooth));
  const std::unique_ptr<Source> source = memory.item();
  for (const double discard : {0.0, 0.5})
    for (const Fuse fuse : {Fuse::mean, Fuse::max, Fuse::one(1)}) {
      Options options;
      options.discard = discard;
      options.fuse = fuse;
      const Attribution average_of_all = average(*source, options);
      const Attribution raw_of_all = raw(*source, -1, options);
      for (int i = 0; i < n; ++i) {
        options.row = Row::at(i);
        expect_row(average(*source, options), average_of_all, i);
        expect_row(raw(*source, -1, options), raw_of_all, i);
      }
    }
}

TEST(OneRow, OfAverageAndRawAsksForNoWholeMap) {
  const Attention attention = random_attention(4, 1, 3, n, 52, Weights::smooth);
  InMemory memory(attention);
  const std::unique_ptr<Source> whole = memory.item();
  for (const Row& row : {Row::at(5), Row::last}) {
    const int place = row == Row::last ? n - 1 : 5;
    Options options;
    options.row = row;
    InBlocks of_average(attention), of_raw(attention);
    expect_row(average(of_average, options), average(*whole), place);
    EXPECT_EQ(of_average.blocks, 4);  // one of each layer
    expect_row(raw(of_raw, 2, options), raw(*whole, 2), place);
    EXPECT_EQ(of_raw.blocks, 1);
  }
}

// A model makes one row by other products than a whole map, so the last bits may differ.
TEST(OneRow, OfAverageAndRawOfAModelIsThatOfAllRows) {
  const OpenOptions opening = {.input = {.texts = {"the keys to the cabinet are on the table"}}};
  const Attribution average_of_all = average(*open("verb-number", opening));
  const Attribution raw_of_all = raw(*open("verb-number", opening), 0);
  const int tokens = average_of_all.values[0].columns();
  for (const int i : {0, 4, tokens - 1}) {
    Options options;
    options.row = Row::at(i);
    const Attribution one = average(*open("verb-number", opening), options);
    const Attribution layer = raw(*open("verb-number", opening), 0, options);
    for (int j = 0; j < tokens; ++j) {
      EXPECT_NEAR(one.values[0](0, j), average_of_all.values[0](i, j), 1e-6) << i << ", " << j;
      EXPECT_NEAR(layer.values[0](0, j), raw_of_all.values[0](i, j), 1e-6) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace headwater::test
