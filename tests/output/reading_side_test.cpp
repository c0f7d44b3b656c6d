#include "headwater/output/picture/reading_side.h"

#include <gtest/gtest.h>

namespace headwater {
namespace {

TEST(ReadingSide, IsThatOfTheFirstLetter) {
  EXPECT_EQ(side_of("cat"), ReadingSide::left);
  EXPECT_EQ(side_of("12 \u0642\u0637"), ReadingSide::right);
  EXPECT_EQ(side_of("\u05d7\u05ea\u05d5\u05dc"), ReadingSide::right);
  EXPECT_EQ(side_of("\u4f60"), ReadingSide::left);
  for (const char* text : {"", "12", ".", "\u2026", "\u060c", "\u0663"})
    EXPECT_EQ(side_of(text), ReadingSide::none) << text;
}

TEST(ReadingSide, OfWhatHasNoLetterIsThatOfItsNeighbours) {
  using enum ReadingSide;
  const std::string a = "\u0642";
  EXPECT_EQ(sides_of({a, ",", a, "."}), (std::vector<ReadingSide>{right, right, right, right}));
  EXPECT_EQ(sides_of({"x", "(", a, "3", a, ")", "y"}),
            (std::vector<ReadingSide>{left, left, right, right, right, left, left}));
  EXPECT_EQ(sides_of({".", "1"}), (std::vector<ReadingSide>{none, none}));
}

}  // namespace
}  // namespace headwater
