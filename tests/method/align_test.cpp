#include "headwater/method/align.h"

#include <gtest/gtest.h>

#include "headwater/core/error.h"
#include "headwater/result/merge.h"

namespace headwater {
namespace {

Description example_of(std::vector<std::string> tokens, std::vector<TokenPlace> places) {
  Description example;
  example.name = "model";
  example.tokens = std::move(tokens);
  example.places = std::move(places);
  return example;
}

// "unbelievable cat" by two tokenizers, the second without special tokens and with the space.
Description word_pieces() {
  return example_of({"[CLS]", "un", "##believ", "##able", "cat", "[SEP]"},
                    {{-1, 0, 0}, {0, 0, 2}, {0, 2, 8}, {0, 8, 12}, {0, 13, 16}, {-1, 0, 0}});
}
Description byte_pairs() {
  return example_of({"unb", "elievable", "_c", "at"},
                    {{0, 0, 3}, {0, 3, 12}, {0, 12, 14}, {0, 14, 16}});
}

TEST(Alignment, MakesOnePieceOfTokensThatOverlap) {
  const Alignment pieces = align(word_pieces(), byte_pairs());
  ASSERT_EQ(pieces.names.size(), 2U);
  EXPECT_EQ(pieces.first, (std::vector<std::vector<int>>{{1, 2, 3}, {4}}));
  EXPECT_EQ(pieces.second, (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(pieces.names[1], "cat");
  EXPECT_EQ(pieces.only_first, 2);
  EXPECT_EQ(pieces.only_second, 0);
}

TEST(Alignment, PairsSpecialTokensByWhereTheyStand) {
  const Description other =
      example_of({"<s>", "unbelievable", "cat", "</s>", "</s>"},
                 {{-1, 0, 0}, {0, 0, 12}, {0, 13, 16}, {-1, 0, 0}, {-1, 0, 0}});
  const Alignment pieces = align(word_pieces(), other);
  EXPECT_EQ(pieces.names, (std::vector<std::string>{"[CLS]", "unbelievable", "cat", "[SEP]"}));
  EXPECT_EQ(pieces.second, (std::vector<std::vector<int>>{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(pieces.only_second, 1);
}

TEST(Alignment, OfEqualTokensIsTokenByToken) {
  const Description same = example_of({"a", "b"}, {});
  EXPECT_EQ(align(same, same).first, (std::vector<std::vector<int>>{{0}, {1}}));
}

TEST(Alignment, OfOtherTokensWithoutPlacesIsAnError) {
  EXPECT_THROW(align(example_of({"a"}, {}), example_of({"b"}, {})), Error);
}

TEST(Merging, AddsColumnsAndAveragesRows) {
  const float numbers[] = {.5f, .25f, .25f,  //
                           .1f, .2f,  .7f,   //
                           .3f, .4f,  .3f};
  const Matrix merged = merge(MatrixView(numbers, 3, 3), {{0, 1}, {2}}, {{0, 1}, {2}});
  EXPECT_FLOAT_EQ(merged(0, 0), (.5f + .25f + .1f + .2f) / 2);
  EXPECT_FLOAT_EQ(merged(0, 1), (.25f + .7f) / 2);
  EXPECT_FLOAT_EQ(merged(1, 0), .7f);
}

}  // namespace
}  // namespace headwater
