// Words from pieces: where they begin, and what becomes of values.
#include "headwater/result/words.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/result/merge.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

using Tokens = std::vector<std::string>;
using Ranges = std::vector<Range>;

std::vector<int> begins(const Tokens& tokens, const std::vector<TokenPlace>& places = {}) {
  Description source;
  source.tokens = tokens;
  source.places = places;
  std::vector<int> out;
  int end = 0;
  for (const Range& word : words_of(source)) {
    EXPECT_EQ(word.begin, end) << "every token is in one word";
    end = word.end;
    out.push_back(word.begin);
  }
  EXPECT_EQ(end, static_cast<int>(tokens.size()));
  return out;
}

using Begins = std::vector<int>;

TEST(Words, OfWordPieceGoOnWithTheirMark) {
  EXPECT_EQ(begins({"[CLS]", "un", "##believ", "##able", "cat", ".", "[SEP]"}),
            (Begins{0, 1, 4, 5, 6}));
}

TEST(Words, OfByteLevelPiecesBeginWithTheirMark) {
  // "The unbelievable cat." and a line end
  EXPECT_EQ(begins({"The", "\u0120un", "believable", "\u0120cat", ".", "\u010A", "Yes"}),
            (Begins{0, 1, 3, 4, 5, 6}));
}

TEST(Words, TakeASpaceThatStandsBeforeThem) {
  EXPECT_EQ(begins({"The", "\u0120", "un", "believable", "\u0120", "(", "cat", "\u0120"}),
            (Begins{0, 1, 4, 6, 7}));
}

TEST(Words, OfSentencePieceBeginWithTheirMark) {
  EXPECT_EQ(begins({"<s>", "\u2581un", "believable", "\u2581cat", "<0x21>", "</s>"}),
            (Begins{0, 1, 3, 4, 5}));
}

TEST(Words, AreRunsWithoutASpaceWherePlacesAreKnown) {
  // "don't (see) well-known."
  const Tokens tokens = {"[CLS]", "don",  "'", "t",     "(", "see",
                         ")",     "well", "-", "known", ".", "[SEP]"};
  const std::vector<TokenPlace> places = {{-1, 0, 0},  {0, 0, 3},   {0, 3, 4},   {0, 4, 5},
                                          {0, 6, 7},   {0, 7, 10},  {0, 10, 11}, {0, 12, 16},
                                          {0, 16, 17}, {0, 17, 22}, {0, 22, 23}, {-1, 0, 0}};
  EXPECT_EQ(begins(tokens, places), (Begins{0, 1, 4, 5, 6, 7, 10, 11}));
}

TEST(Words, OfByteLevelPiecesWhosePlacesHoldTheSpace) {
  EXPECT_EQ(begins({"The", "\u0120ke", "ys"}, {{0, 0, 3}, {0, 3, 6}, {0, 6, 8}}), (Begins{0, 1}));
}

TEST(Words, DoNotJoinTwoTexts) {
  EXPECT_EQ(begins({"a", "b"}, {{0, 0, 1}, {1, 0, 1}}), (Begins{0, 1}));
}

TEST(Words, OfWritingWithoutSpacesAreTheTokens) {
  EXPECT_EQ(begins({"\u2581\u4ECA\u65E5", "\u306F", "\u6674\u308C", "\u3002"}),
            (Begins{0, 1, 2, 3}));
}

TEST(Words, OfNamesInAnglesStandAlone) {
  EXPECT_EQ(begins({"<image 0: 0,0>", "<image 0: 0,1>", "\u2581a", "b"}), (Begins{0, 1, 2}));
}

TEST(Words, OfTokensWithoutMarksAreTheTokens) {
  EXPECT_EQ(begins({"0", "1", "2"}), (Begins{0, 1, 2}));
  EXPECT_EQ(begins({}), Begins());
}

Attribution result_of(Tokens tokens, std::vector<float> numbers) {
  Attribution result;
  result.method = "rollout";
  result.source.name = "x";
  result.source.tokens = std::move(tokens);
  const int n = static_cast<int>(result.source.tokens.size());
  Matrix values(static_cast<int>(numbers.size()) / n, n);
  std::copy(numbers.begin(), numbers.end(), values.data());
  for (int i = 0; i < values.rows(); ++i) result.rows.push_back(i);
  result.values.push_back(std::move(values));
  return result;
}

TEST(MergedWords, AddColumnsAndAverageRows) {
  const Attribution words =
      merge_words(result_of({"a", "b", "##c"}, {.5, .25, .25, .25, .5, .25, 0, .25, .75}));
  EXPECT_EQ(words.source.tokens, (Tokens{"a", "bc"}));
  EXPECT_EQ(words.rows, (std::vector<int>{0, 1}));
  EXPECT_EQ(words.pieces, (Ranges{{0, 1}, {1, 3}}));
  EXPECT_EQ(words.notes, (Tokens{"3 tokens merged to 2 words"}));
  const Matrix& values = words.values[0];
  ASSERT_EQ(values.rows(), 2);
  EXPECT_EQ(values(0, 0), .5f);
  EXPECT_EQ(values(0, 1), .5f);
  EXPECT_EQ(values(1, 0), .125f);
  EXPECT_EQ(values(1, 1), .875f);
}

TEST(MergedWords, AreNamedByTheTextWhereItIsKnown) {
  Attribution given = result_of({"the", "[UNK]", "##s"}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  given.source.texts = {"The keys"};
  given.source.places = {{0, 0, 3}, {0, 4, 7}, {0, 7, 8}};
  const Attribution words = merge_words(std::move(given));
  EXPECT_EQ(words.source.tokens, (Tokens{"The", "keys"}));
  EXPECT_EQ(words.source.places, (std::vector<TokenPlace>{{0, 0, 3}, {0, 4, 8}}));
}

TEST(MergedWords, KeepTheRowOfAPieceAndSaySo) {
  Attribution some = result_of({"a", "b", "##c"}, {0, .25, .75});
  some.rows = {2};
  const Attribution words = merge_words(std::move(some));
  EXPECT_EQ(words.rows, (std::vector<int>{1}));
  EXPECT_EQ(words.values[0](0, 1), 1);
  EXPECT_EQ(words.notes[0], "the row of word 1 is that of its piece, token 2 '\u00B7c'");
}

TEST(MergedWords, MergeWhatAGradientRecords) {
  Attribution given = result_of({"a", "b", "##c"}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  given.method = "gradient";
  given.gradient = GradientRecord();
  given.gradient->target.logit.row = 2;
  given.gradient->input = {{1, 3, 4}, {.5f, 1, -3}};
  const Attribution words = merge_words(std::move(given));
  EXPECT_EQ(words.gradient->target.logit.row, 1);
  EXPECT_EQ(words.gradient->input.norm, (std::vector<float>{1, 5}));
  EXPECT_EQ(words.gradient->input.times_input, (std::vector<float>{.5f, -2}));
}

TEST(MergedWords, AreRefusedWhereValuesDoNotAddUp) {
  const auto usage = Error::Kind::usage;
  Attribution flow = result_of({"a", "##b"}, {1, 0, 0, 1});
  flow.method = "flow";
  expect_error(usage, {"do not add up"}, [&] { merge_words(std::move(flow)); });
  Attribution patches = result_of({"a", "##b"}, {1, 0, 0, 1});
  patches.source.patches = PatchGrid();
  expect_error(usage, {"patches of an image"}, [&] { merge_words(std::move(patches)); });
}

}  // namespace
}  // namespace headwater::test
