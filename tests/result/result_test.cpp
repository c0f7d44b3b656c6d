// What results of all kinds share: the largest values, one column alone, views and writing.
#include "headwater/result/result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "headwater/method/flow/flow.h"
#include "headwater/output/json.h"
#include "headwater/output/terminal/terminal.h"
#include "headwater/output/write.h"
#include "headwater/result/columns.h"
#include "headwater/result/top.h"
#include "tests/output/made.h"
#include "tests/support/bytes.h"
#include "tests/support/expect_error.h"
#include "tests/support/in_memory.h"

namespace headwater::test {
namespace {

using Places = std::vector<int>;

TEST(Top, IsTheLargestFirst) {
  const std::vector<float> values = {0.1f, 0.4f, 0.2f, 0.3f};
  EXPECT_EQ(top(values, 3), (Places{1, 3, 2}));
  EXPECT_EQ(top(values, 4), (Places{1, 3, 2, 0}));
}

TEST(Top, KeepsTheOrderOfEqualValues) {
  EXPECT_EQ(top(std::vector<float>{0.2f, 0.5f, 0.2f, 0.5f, 0.2f}, 4), (Places{1, 3, 0, 2}));
  EXPECT_EQ(top(std::vector<float>(100, 0.0f), 3), (Places{0, 1, 2}));
}

TEST(Top, TellsDoublesApartThatAreTheSameFloat) {
  const double next = std::nextafter(0.5, 1);
  ASSERT_EQ(static_cast<float>(next), 0.5f);
  EXPECT_EQ(top(std::vector<double>{0.5, next}, 1), (Places{1}));
}

TEST(Top, LeavesOutWhatIsNotKept) {
  const std::vector<float> values = {0.9f, 0.1f, 0.8f, 0.2f};
  EXPECT_EQ(top(values, 2, {false, true, true, true}), (Places{2, 3}));
}

TEST(Top, HasFewerWhereFewerAreKept) {
  const std::vector<float> values = {0.9f, 0.1f, 0.8f};
  EXPECT_EQ(top(values, 5), (Places{0, 2, 1}));
  EXPECT_EQ(top(values, 2, {false, true, false}), (Places{1}));
  EXPECT_EQ(top(values, 2, {false, false, false}), Places());
}

TEST(Top, PutsWhatIsNoNumberLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(top(Vector{nan, 1, nan, 2, -3}, 4), (std::vector<int>{3, 1, 4, 0}));
}

TEST(Top, OfNothingIsNothing) {
  EXPECT_EQ(top(std::vector<float>(), 3), Places());
  EXPECT_EQ(top(std::vector<float>{1, 2}, 0), Places());
  EXPECT_EQ(top(std::vector<float>{1, 2}, -1), Places());
}

/// Flow to input token 2 of five, which is all that the result holds.
Attribution flow_to_one_token() {
  InMemory memory(random_attention(3, 1, 2, 5, 8));
  FlowOptions options;
  options.column = 2;
  return flow(*memory.item(), {}, options);
}

TEST(OneColumn, IsAllThatTheResultHolds) {
  InMemory memory(random_attention(3, 1, 2, 5, 8));
  const Attribution whole = flow(*memory.item()), one = flow_to_one_token();
  EXPECT_EQ(one.columns, (Places{2}));
  ASSERT_EQ(one.values[0].columns(), 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(one.values[0](i, 0), whole.values[0](i, 2)) << i;
}

TEST(OneColumn, HasNoPicture) {
  const Folder folder;
  for (const char* name : {"x.png", "x.PNG", "x.svg", "x.pdf"})
    expect_error(Error::Kind::usage, {name, "needs all input tokens", "token 2 alone", "`column`"},
                 [&] { write(flow_to_one_token(), folder.path(name)); });
  Comparison comparison = made_comparison(5, 1);
  comparison.panels.push_back(flow_to_one_token());
  expect_error(Error::Kind::usage, {"x.svg", "needs all input tokens"},
               [&] { write(comparison, folder.path("x.svg")); });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path("")));
}

TEST(OneColumn, CannotBeFiltered) {
  const Folder folder;
  WriteOptions options;
  options.filter.special = true;
  for (const char* name : {"x.json", "x.npz", "x.svg"})
    expect_error(Error::Kind::usage, {"needs all input tokens"},
                 [&] { write(flow_to_one_token(), folder.path(name), options); });
}

TEST(OneColumn, IsWrittenAsNumbersAndShownAtTheTerminal) {
  const Folder folder;
  write(flow_to_one_token(), folder.path("x.json"));
  EXPECT_NE(read_file(folder.path("x.json")).find("\"columns\": [2]"), std::string::npos);
  EXPECT_NE(terminal(flow_to_one_token(), 0, {}, false, 80).find("input token 2 '2': "),
            std::string::npos);
}

TEST(ResultView, SeesAResultByItselfAndInAVariant) {
  const Attribution alone = made(3);
  const Result owned = made_comparison(3, 2);
  const auto kind = [](ResultView view) {
    return view.visit([](const auto& one) -> std::string {
      if constexpr (requires { one.panels; }) return one.by;
      if constexpr (requires {
                      one.values.size();
                      one.method;
                    })
        return one.method;
      return "";
    });
  };
  EXPECT_EQ(kind(alone), "rollout");
  EXPECT_EQ(kind(owned), "discard");
  const void* seen = nullptr;
  ResultView(alone).visit([&](const auto& one) { seen = &one; });
  EXPECT_EQ(seen, &alone);  // borrowed, not copied
}

TEST(WriteOfAResult, LeavesYouYourResult) {
  const Folder folder;
  const Attribution result = made(3);
  const float* before = result.values[0].data();
  for (const char* name : {"a.json", "a.npy", "a.npz", "a.svg"}) write(result, folder.path(name));
  EXPECT_EQ(result.values[0].data(), before);
  EXPECT_EQ(result.values[0](1, 1), 0.5f);
  EXPECT_EQ(result.source.tokens.size(), 3u);
  for (const char* name : {"a.json", "a.npy", "a.npz", "a.svg"}) {
    const std::string again = std::string("again-") + name;
    write(result, folder.path(again));
    EXPECT_EQ(read_file(folder.path(name)), read_file(folder.path(again))) << name;
  }
}

TEST(WriteOfAResult, TakesAResultAndAViewOfItAlike) {
  const Folder folder;
  const Attribution result = made(3);
  write(result, folder.path("alone.json"));
  write(Result(made(3)), folder.path("owned.json"));
  write(std::vector<ResultView>{result}, folder.path("list.json"));
  EXPECT_EQ(read_file(folder.path("alone.json")), read_file(folder.path("owned.json")));
  EXPECT_EQ(read_file(folder.path("alone.json")), read_file(folder.path("list.json")));
}

}  // namespace
}  // namespace headwater::test
