#include "headwater/result/find_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace headwater {
namespace {

TEST(Rows, AreFoundByNumberOrByKindOfToken) {
  const std::vector<std::string> tokens = {"<s>", "[CLS]", "a", "[MASK]", "b", "<mask>"};
  using Rows = std::vector<int>;
  EXPECT_EQ(find_rows(Row{Row::Kind::index, -1}, tokens, "f"), Rows{5});
  EXPECT_EQ(find_rows(Row{Row::Kind::last, 0}, tokens, "f"), Rows{5});
  EXPECT_EQ(find_rows(Row{Row::Kind::cls, 0}, tokens, "f"), Rows{1});
  EXPECT_EQ(find_rows(Row{Row::Kind::mask, 0}, tokens, "f"), (Rows{3, 5}));
  EXPECT_EQ(find_rows(Row{Row::Kind::all, 0}, tokens, "f"), (Rows{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(find_rows(Row{Row::Kind::mean, 0}, tokens, "f").empty());
  EXPECT_EQ(find_rows(Row::list({Row::last, Row::mask, Row::at(0)}), tokens, "f"),
            (Rows{5, 3, 5, 0}));
  for (int row : {6, -7})
    test::expect_error(Error::Kind::work, {fmt::format("f: has no row {}", row), "expected 0 to 5"},
                       [&] {
                         find_rows(Row{Row::Kind::index, row}, tokens, "f");
                       });
  test::expect_error(Error::Kind::work, {"f: has no token [CLS]", "`row` cls"}, [&] {
    find_rows(Row{Row::Kind::cls, 0}, {"a"}, "f");
  });
  test::expect_error(Error::Kind::work, {"f: has no token [MASK]", "`row` mask"}, [&] {
    find_rows(Row{Row::Kind::mask, 0}, {"a"}, "f");
  });
}

TEST(Rows, AreFoundByWord) {
  const std::vector<std::string> tokens = {"[CLS]", "the", "ch",   "##if",
                                           "##for", "the", "keys", "."};
  using Rows = std::vector<int>;
  EXPECT_EQ(find_rows(Row::word("keys"), tokens, "f"), Rows{6});
  EXPECT_EQ(find_rows(Row::word("the"), tokens, "f"), Rows{1});
  EXPECT_EQ(find_rows(Row::word("the#2"), tokens, "f"), Rows{5});
  EXPECT_EQ(find_rows(Row::word("##if"), tokens, "f"), Rows{3});
  EXPECT_EQ(find_rows(Row::word("chiffor"), tokens, "f"), (Rows{2, 3, 4}));
  EXPECT_EQ(find_rows(Row::list({Row::word("keys"), Row::at(0)}), tokens, "f"), (Rows{6, 0}));
  EXPECT_EQ(find_rows(Row::word("brown"), {"\u0120quick", "\u0120brown"}, "f"), Rows{1});
  EXPECT_EQ(find_one_row(Row::word("keys"), tokens, "f"), 6);
  test::expect_error(Error::Kind::work,
                     {"f: `row` names its tokens 2, 3, 4", "give the number of one"},
                     [&] { find_one_row(Row::word("chiffor"), tokens, "f"); });
  test::expect_error(Error::Kind::work, {"f: has 'the' 2 times, expected at least 3"},
                     [&] { find_rows(Row::word("the#3"), tokens, "f"); });
  test::expect_error(Error::Kind::work, {"f: has no token 'kyes'", "did you mean 'keys'?"},
                     [&] { find_rows(Row::word("kyes"), tokens, "f"); });
  test::expect_error(Error::Kind::work, {"did you mean 'last'?"},
                     [&] { find_rows(Row::word("lst"), tokens, "f"); });
}

}  // namespace
}  // namespace headwater
