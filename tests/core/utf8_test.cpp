#include "headwater/core/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "headwater/core/display_width.h"

namespace headwater {
namespace {

TEST(Utf8, KeepsWhatIsValid) {
  const std::string text = "a\u00e9\u4f60\U0001F600\U0010FFFF";
  EXPECT_EQ(code_points(text), U"a\u00e9\u4f60\U0001F600\U0010FFFF");
  EXPECT_EQ(valid_utf8(text), text);
}

TEST(Utf8, ReplacesWhatIsNot) {
  EXPECT_EQ(code_points("\xff"), U"\uFFFD");
  EXPECT_EQ(code_points("a\x80z"), U"a\uFFFDz");
  EXPECT_EQ(code_points("\xe4\xbd"), U"\uFFFD") << "cut short: one character was begun";
  EXPECT_EQ(code_points("\xc0\xaf"), U"\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(code_points("\xed\xa0\x80"), U"\uFFFD\uFFFD\uFFFD") << "surrogate";
  EXPECT_EQ(code_points("\xf4\x90\x80\x80"), U"\uFFFD\uFFFD\uFFFD\uFFFD") << "above U+10FFFF";
  EXPECT_EQ(to_utf8(std::u32string(1, char32_t{0xD800})), "\uFFFD");
}

RC_GTEST_PROP(Utf8, IsValidWhateverTheBytesWere, (const std::string& bytes)) {
  const std::string valid = valid_utf8(bytes);
  RC_ASSERT(valid_utf8(valid) == valid);
}

TEST(DisplayWidth, KnowsWideCombiningAndPlainCharacters) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("\u4f60\u597d"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("\U0001F600"), 2);
  EXPECT_EQ(display_width("\u00b7\u2026"), 2);
  EXPECT_EQ(padded("\u4f60", 4), "\u4f60  ");
  EXPECT_EQ(padded("7", 3, true), "  7");
  EXPECT_EQ(padded("longer", 3), "longer");
}

}  // namespace
}  // namespace headwater
