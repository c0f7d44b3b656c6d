#include "headwater/layer/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "headwater/layer/resolve.h"
#include "tests/support/expect_error.h"

namespace headwater {
namespace {

using test::expect_error;
constexpr Error::Kind usage = Error::Kind::usage, work = Error::Kind::work;

TEST(Options, ReadTheirWordsBackAsTheyWroteThem) {
  for (const char* word : {"paper", "tutorial", "vit-explain", "metrics"})
    EXPECT_EQ(to_string(parse_preset(word)), word);
  for (const char* word : {"residual-first", "discard-first"})
    EXPECT_EQ(to_string(parse_order(word)), word);
  for (const char* word : {"identity", "zero"}) EXPECT_EQ(to_string(parse_empty(word)), word);
  for (const char* word : {"always", "changed"}) EXPECT_EQ(to_string(parse_divide(word)), word);
  for (const char* word : {"mean", "max", "min", "head:0", "head:11", "head:-1"})
    EXPECT_EQ(to_string(parse_fuse(word)), word);
}

TEST(Options, OfAnUnknownWordAreBadUsageAndNameTheNearest) {
  expect_error(usage, {"preset 'papr'", "did you mean 'paper'"}, [] { parse_preset("papr"); });
  expect_error(usage, {"preset 'x'", "paper, tutorial, vit-explain, metrics"},
               [] { parse_preset("x"); });
  expect_error(usage, {"order 'discard'", "discard-first"}, [] { parse_order("discard"); });
  expect_error(usage, {"empty 'zeros'", "did you mean 'zero'"}, [] { parse_empty("zeros"); });
  expect_error(usage, {"divide 'alway'", "did you mean 'always'"}, [] { parse_divide("alway"); });
  expect_error(usage, {"fuse 'maen'", "did you mean 'mean'"}, [] { parse_fuse("maen"); });
  expect_error(usage, {"fuse 'Mean'"}, [] { parse_fuse("Mean"); });
  for (const char* text : {"head:", "head:x", "head:1x", "head:99999999999"})
    expect_error(usage, {text, "number"}, [&] { parse_fuse(text); });
  expect_error(usage, {"`row` ''"}, [] { parse_row(""); });
  for (const char* text : {"", "3", "a:b", "1:2:3", "1:x", ": ", "1.5:2"})
    expect_error(usage, {fmt::format("`layers` '{}'", text), "0:6"}, [&] { parse_slice(text); });
  // A megabyte.
  expect_error(usage, {"preset"}, [] { parse_preset(std::string(1 << 20, 'p')); });
}

TEST(Options, ReadRowsAndRanges) {
  EXPECT_EQ(parse_row("7"), (Row{Row::Kind::index, 7}));
  EXPECT_EQ(parse_row("-1"), (Row{Row::Kind::index, -1}));
  EXPECT_EQ(parse_row("mean").kind, Row::Kind::mean);
  EXPECT_EQ(parse_row("all").kind, Row::Kind::all);
  EXPECT_EQ(parse_row("3,-1,cls"), Row::list({Row::at(3), Row::at(-1), Row::cls}));
  expect_error(usage, {"`row` '3,'"}, [] { parse_row("3,"); });
  EXPECT_EQ(parse_row("keys#2"), Row::word("keys#2"));
  EXPECT_EQ(parse_row("keys,3"), Row::list({Row::word("keys"), Row::at(3)}));
  EXPECT_EQ(parse_row(","), Row::word(","));
  EXPECT_EQ(parse_row("no,"), Row::word("no,"));
  EXPECT_EQ(parse_slice(":"), (Slice{0, {}}));
  EXPECT_EQ(parse_slice("2:"), (Slice{2, {}}));
  EXPECT_EQ(parse_slice(":-1"), (Slice{0, -1}));
  EXPECT_EQ(parse_slice("-3:5"), (Slice{-3, 5}));
}

TEST(Options, OfAPresetAreThoseOfTheDesign) {
  const Options paper = options_of(Preset::paper);
  EXPECT_EQ(paper.fuse, Fuse::mean);
  EXPECT_EQ(paper.residual, 0.5);
  EXPECT_EQ(paper.discard, 0);
  EXPECT_EQ(paper.order, Order::residual_first);
  EXPECT_EQ(paper.empty, Empty::identity);
  EXPECT_EQ(paper.divide, Divide::always);
  const Options tutorial = options_of(Preset::tutorial);
  EXPECT_EQ(tutorial.residual, 0.5);
  EXPECT_EQ(tutorial.discard, 0.1);
  EXPECT_EQ(tutorial.empty, Empty::zero);
  EXPECT_EQ(tutorial.divide, Divide::changed);
  EXPECT_EQ(tutorial.order, Order::residual_first);
  const Options vit = options_of(Preset::vit_explain);
  EXPECT_EQ(vit.discard, 0.9);
  EXPECT_EQ(vit.residual, 0.5);
  EXPECT_EQ(vit.order, Order::discard_first);
  const Options metrics = options_of(Preset::metrics);
  EXPECT_EQ(metrics.preset, Preset::metrics);
  EXPECT_EQ(metrics.residual, 0.5);
  EXPECT_EQ(metrics.discard, 0);
}

TEST(Options, OutOfTheirRangeAreBadUsage) {
  for (double value : {-0.1, 1.0, 1.5, std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::infinity()}) {
    Options options;
    options.residual = value;
    expect_error(usage, {"residual", "from 0 up to but not including 1"}, [&] { check(options); });
    options = {};
    options.discard = value;
    expect_error(usage, {"discard", "from 0 up to but not including 1"}, [&] { check(options); });
  }
  Options rows;
  rows.row = Row::list({});
  expect_error(usage, {"`row`: is an empty list"}, [&] { check(rows); });
  rows.row = Row::list({Row::at(1), Row::mean});
  expect_error(usage, {"`row` mean: is not one row of a list"}, [&] { check(rows); });
  expect_error(usage, {"names several tokens"}, [] { check_one_token(Row::list({Row::cls})); });
  Options edge;
  edge.residual = edge.discard = std::nextafter(1.0, 0.0);
  EXPECT_NO_THROW(check(edge));
}

TEST(Ranges, AreThoseOfPythonAndNeverClamped) {
  EXPECT_EQ(resolve(Slice{}, 12, "f"), (Range{0, 12}));
  EXPECT_EQ(resolve(Slice{2, -1}, 12, "f"), (Range{2, 11}));
  EXPECT_EQ(resolve(Slice{-3, {}}, 12, "f"), (Range{9, 12}));
  for (const Slice& slice :
       {Slice{0, 13}, Slice{12, {}}, Slice{-13, {}}, Slice{3, 3}, Slice{5, 2}, Slice{0, -12},
        Slice{0, 0}, Slice{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}})
    expect_error(work, {"f: has no layers", "expected a range within 0:12"},
                 [&] { resolve(slice, 12, "f"); });
}

}  // namespace
}  // namespace headwater
