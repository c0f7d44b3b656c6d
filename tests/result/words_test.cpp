// Words from pieces: where they begin, and what becomes of values.
#include "headwater/result/words.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/result/generated_words.h"
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

// Three prompt tokens "a b ##c", three generated "##d e ##f", two layers.
Generated generated_text() {
  Generated result;
  result.prompt.name = "x";
  result.prompt.tokens = {"a", "b", "##c"};
  result.tokens = {"##d", "e", "##f"};
  result.ids = {7, 8, 9};
  result.layers = {0, 2};
  result.choices.resize(3);
  for (int s = 0; s < 3; ++s) {
    Matrix values(3, 2);
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < 2; ++l) values(j, l) = static_cast<float>(100 * s + 10 * j + l);
    result.values.push_back(std::move(values));
  }
  return result;
}

TEST(MergedWords, OfGeneratedTextAddThePromptAndAverageTheRows) {
  Generated given = generated_text();
  given.shown = 2;
  const Generated words = merge_words(std::move(given));
  EXPECT_EQ(words.prompt.tokens, (Tokens{"a", "bc"}));
  EXPECT_EQ(words.tokens, (Tokens{"d", "ef"}));  // "##d" goes on with the prompt's last word
  EXPECT_EQ(words.pieces, (Ranges{{0, 1}, {1, 3}}));
  EXPECT_EQ(words.generated_pieces, (Ranges{{0, 1}, {1, 3}}));
  EXPECT_EQ(words.ids, (std::vector<int>{7, 8, 9}));
  EXPECT_EQ(words.shown, 1);
  ASSERT_EQ(words.values.size(), 2u);
  EXPECT_EQ(words.values[0](0, 1), 1);
  EXPECT_EQ(words.values[0](1, 0), 10 + 20);
  EXPECT_EQ(words.values[1](1, 1), (111 + 121 + 211 + 221) / 2);
  EXPECT_TRUE(words.choices.empty());
  EXPECT_EQ(words.notes, (Tokens{"3 prompt tokens merged to 2 words, 3 generated tokens to 2",
                                 "how sure the model was of single tokens is left out"}));
}

TEST(MergedWords, OfRelevanceKeepTheSums) {
  Generated given = generated_text();
  given.values.clear();
  given.relevance = Matrix(3, 6);
  for (int s = 0; s < 3; ++s)
    for (int j = 0; j < 3 + s; ++j) given.relevance(s, j) = static_cast<float>(s + j);
  given.outputs = {3, 10, 22};
  given.biases = {0, 0, 2};
  const Generated words = merge_words(std::move(given));
  ASSERT_EQ(words.relevance.columns(), 4);
  EXPECT_EQ(words.outputs, (std::vector<double>{3, 16}));
  EXPECT_EQ(words.biases, (std::vector<double>{0, 1}));
  float sum = 0;
  for (const float value : words.relevance.row(1)) sum += value;
  EXPECT_EQ(sum, 16 - 1);
}

TEST(MergedWords, OfASpanCountWords) {
  const auto spanned = [](Range span) {
    Generated given = generated_text();
    given.values.clear();
    given.relevance = Matrix(1, 6);
    given.outputs = given.biases = {0};
    given.span = span;
    return given;
  };
  EXPECT_EQ(merge_words(spanned({1, 3})).span, (Range{1, 2}));
  expect_error(Error::Kind::usage, {"cuts a word"}, [&] { merge_words(spanned({0, 2})); });
}

}  // namespace
}  // namespace headwater::test
