// The parts that tokenizers are made of, each where it is easiest to see.
#include <gtest/gtest.h>

#include <string>

#include "headwater/model/tokenizer/base64.h"
#include "headwater/model/tokenizer/normal_form.h"
#include "headwater/model/tokenizer/pattern.h"
#include "headwater/model/tokenizer/prefix_index.h"
#include "headwater/model/tokenizer/regex.h"
#include "headwater/model/tokenizer/score.h"
#include "headwater/model/tokenizer/splits.h"
#include "headwater/model/tokenizer/vocabulary.h"
#include "tests/tokenizer/made.h"

namespace headwater {
namespace {

std::string text_of(const std::vector<Change>& changes) {
  std::string out;
  for (const Change& one : changes) append_utf8(out, one.code);
  return out;
}

TEST(NormalForm, ComposesAndDecomposes) {
  EXPECT_EQ(text_of(normalise("\xC3\xA9", NormalForm::nfd)), "e\xCC\x81");
  EXPECT_EQ(text_of(normalise("e\xCC\x81", NormalForm::nfc)), "\xC3\xA9");
  EXPECT_EQ(text_of(normalise("\xEF\xAC\x81", NormalForm::nfkc)), "fi");
  // A Hangul syllable and a character that is no final consonant stay two.
  EXPECT_EQ(text_of(normalise("\xEA\xB0\x80\xE1\x86\xA7", NormalForm::nfc)),
            "\xEA\xB0\x80\xE1\x86\xA7");
  // U+07FD has a combining class since Unicode 11: here it has none, so it does not move.
  EXPECT_EQ(text_of(normalise("\xCC\x81\xDF\xBD", NormalForm::nfd)), "\xCC\x81\xDF\xBD");
}

TEST(AlignedText, KeepsTheOriginalPlaceOfEveryByte) {
  AlignedText text("a\xC3\xA9z");
  text.transform(normalise(text.text(), NormalForm::nfd));
  text.filter([](char32_t c) { return c < 0x300; });
  EXPECT_EQ(text.text(), "aez");
  EXPECT_EQ(text.original_of(1, 2), (ByteSpan{1, 3}));
  text.prepend("__");
  EXPECT_EQ(text.original_of(0, 3), (ByteSpan{0, 1}));
  const AlignedText part = text.slice(3, 5);
  EXPECT_EQ(part.text(), "ez");
  EXPECT_EQ(part.original(), (ByteSpan{1, 4}));
}

std::vector<std::string> cut_at(const std::string& text, const std::string& pattern,
                                Behaviour behaviour) {
  Splits splits;
  const AlignedText aligned(text);
  cut(aligned, Pattern::literal(pattern, "test").matches(text), behaviour, splits);
  std::vector<std::string> out;
  for (const Split& split : splits) out.push_back(split.text.text());
  return out;
}

TEST(Splits, FiveBehaviours) {
  const std::string text = "the-final--countdown";
  EXPECT_EQ(cut_at(text, "-", Behaviour::removed), (Words{"the", "final", "countdown"}));
  EXPECT_EQ(cut_at(text, "-", Behaviour::isolated),
            (Words{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(cut_at(text, "-", Behaviour::merged_with_previous),
            (Words{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(cut_at(text, "-", Behaviour::merged_with_next),
            (Words{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(cut_at(text, "-", Behaviour::contiguous),
            (Words{"the", "-", "final", "--", "countdown"}));
}

TEST(Regex, CoversTheTextAndKnowsNewCharacters) {
  const Regex letters(R"(\p{L}+)", "test");
  const auto found = letters.matches("ab 1");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].matched);
  EXPECT_EQ(found[1].begin, 2u);
  // U+10D50 is a letter since Unicode 16.
  EXPECT_TRUE(letters.matches("\xF0\x90\xB5\x90").front().matched);
}

TEST(Regex, RefusesWhatIsNoPatternAndGivesUpOnWhatNeverEnds) {
  EXPECT_THROW(Regex("(", "test"), Error);
  const Regex endless("(x+x+)+[yz][yz]", "test");
  EXPECT_THROW(endless.matches(std::string(5000, 'x') + "y"), Error);
}

TEST(PrefixIndex, FindsAllTextsThatBeginHere) {
  const PrefixIndex index({{"a", 1}, {"abc", 2}, {"ab", 3}, {"b", 4}, {"abc", 5}, {"", 6}});
  std::vector<std::pair<size_t, uint32_t>> found;
  index.walk("xabcd", 1, [&](size_t length, uint32_t value) { found.emplace_back(length, value); });
  EXPECT_EQ(found, (std::vector<std::pair<size_t, uint32_t>>{{1, 1}, {2, 3}, {3, 5}}));
}

TEST(Vocabulary, FindsTokensBothWays) {
  Vocabulary vocabulary;
  for (int i = 0; i < 1000; ++i) vocabulary.add("t" + std::to_string(i), 2 * i);
  vocabulary.add("", 1);
  vocabulary.add("t7", 5);
  vocabulary.add("", 3);
  vocabulary.finish();
  EXPECT_EQ(vocabulary.size(), 1001u);
  EXPECT_EQ(vocabulary.id_of("t7"), 5);
  EXPECT_EQ(vocabulary.id_of(""), 3);
  EXPECT_EQ(vocabulary.token_of(5), "t7");
  EXPECT_EQ(vocabulary.token_of(14), std::nullopt);
  EXPECT_EQ(vocabulary.token_of(1998), "t999");
  const std::vector<std::string_view> asked = {"t1", "nobody", "t2"};
  std::vector<int> ids(3);
  vocabulary.ids_of(asked, ids);
  EXPECT_EQ(ids, (Ids{2, -1, 4}));
}

TEST(Score, IsReadDigitByDigit) {
  EXPECT_EQ(read_score("-1.5"), -1.5);
  EXPECT_EQ(read_score("12"), 12);
  EXPECT_EQ(read_score("1e-3"), 0.001);
  EXPECT_EQ(read_score("-2.5E+2"), -250);
  EXPECT_EQ(read_score("0.0"), 0);
  // Not the nearest double, but the quotient of two.
  EXPECT_EQ(read_score("-9.5367431640625001"), -95367431640625001.0 / 1e16);
}

TEST(Base64, DecodesOrSaysNo) {
  EXPECT_EQ(decode_base64("TWFu"), "Man");
  EXPECT_EQ(decode_base64("TWE="), "Ma");
  EXPECT_EQ(decode_base64("TQ=="), "M");
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("T"), std::nullopt);
  EXPECT_EQ(decode_base64("T*=="), std::nullopt);
}

TEST(Decoder, JoinsTokensToText) {
  TokenizerJson made;
  made.model = R"({"type": "WordLevel", "unk_token": "?",
                   "vocab": {"?": 0, "un": 1, "##happy": 2, ",": 3, "\u0120caf\u00c3\u00a9": 4,
                             "\u2581a": 5, "<0xC3>": 6, "<0xA9>": 7}})";
  EXPECT_EQ(made.parse().decode(Ids{1, 2}), "un ##happy");
  made.decoder = R"({"type": "WordPiece", "prefix": "##", "cleanup": true})";
  EXPECT_EQ(made.parse().decode(Ids{1, 2, 3}), "unhappy,");
  made.decoder = R"({"type": "ByteLevel"})";
  EXPECT_EQ(made.parse().decode(Ids{4, 99}), " caf\xC3\xA9");
  made.decoder = R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"})";
  EXPECT_EQ(made.parse().decode(Ids{5, 5}), "a a");
  made.decoder =
      R"({"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]})";
  EXPECT_EQ(made.parse().decode(Ids{6, 7, 1}), "\xC3\xA9un");
  EXPECT_EQ(made.parse().decode(Ids{6}), "\xEF\xBF\xBD");
}

TEST(Decoder, SpecialTokensAreLeftOutUnlessAskedFor) {
  TokenizerJson made;
  made.added_tokens = "[" + added(4, "<s>", "special") + "]";
  EXPECT_EQ(made.parse().decode(Ids{4, 1}), "a");
  EXPECT_EQ(made.parse().decode(Ids{4, 1}, false), "<s> a");
}

}  // namespace
}  // namespace headwater
