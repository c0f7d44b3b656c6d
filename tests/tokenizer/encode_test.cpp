// Text to tokens, with tokenizers small enough to check by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/tokenizer/made.h"

namespace headwater {
namespace {

const char* const bert_model =
    R"({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 6,
        "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "un": 3, "##happ": 4, "##y": 5, "cafe": 6,
                  ",": 7, "u": 8}})";
const char* const bert_normalizer =
    R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
        "strip_accents": null, "lowercase": true})";
const char* const bert_template =
    R"({"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                   {"Sequence": {"id": "A", "type_id": 0}},
                   {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
        "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
                 {"Sequence": {"id": "B", "type_id": 1}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                           "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}})";

Tokenizer bert() {
  TokenizerJson made;
  made.model = bert_model;
  made.normalizer = bert_normalizer;
  made.pre_tokenizer = R"({"type": "BertPreTokenizer"})";
  made.post_processor = bert_template;
  made.added_tokens = "[" + added(1, "[CLS]", "special") + "," + added(2, "[SEP]", "special") + "]";
  return made.parse();
}

TEST(Tokenizer, WordPieceTakesTheLongestBeginningEachTime) {
  const auto encoding = bert().encode("Unhappy");
  // Seven characters, and words of more than six are unknown.
  EXPECT_EQ(encoding.ids, (Ids{1, 0, 2}));
  const auto shorter = bert().encode("unhapp");
  EXPECT_EQ(shorter.tokens, (Words{"[CLS]", "un", "##happ", "[SEP]"}));
  EXPECT_EQ(spans(shorter), (Spans{{0, 0}, {0, 2}, {2, 6}, {0, 0}}));
  EXPECT_EQ(bert().encode("unx").ids, (Ids{1, 0, 2}));
}

// A tokenizer.json may lift the limit on the length of words. A try of each end for each beginning
// takes minutes here.
TEST(Tokenizer, WordPieceTakesLongWordsInTimeThatGrowsWithThem) {
  TokenizerJson made;
  made.model =
      R"({"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##",
          "max_input_chars_per_word": 1000000, "vocab": {"?": 0, "a": 1, "##a": 2, "##aa": 3}})";
  const auto begun = std::chrono::steady_clock::now();
  const auto encoding = made.parse().encode(std::string(16'001, 'a'));
  EXPECT_EQ(encoding.size(), 8001u);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

TEST(Tokenizer, OffsetsAreBytesOfTheTextThatWasGiven) {
  // E with an acute accent is two bytes; the accent falls away, the offsets stay.
  const auto encoding = bert().encode("  CAF\xC3\x89, u");
  EXPECT_EQ(encoding.tokens, (Words{"[CLS]", "cafe", ",", "u", "[SEP]"}));
  EXPECT_EQ(spans(encoding), (Spans{{0, 0}, {2, 7}, {7, 8}, {9, 10}, {0, 0}}));
  EXPECT_EQ(encoding.sequences, (Ids{-1, 0, 0, 0, -1}));
}

TEST(Tokenizer, APairHasItsOwnTypeAndItsOwnOffsets) {
  const auto encoding = bert().encode("u", "u ,");
  EXPECT_EQ(encoding.ids, (Ids{1, 8, 2, 8, 7, 2}));
  EXPECT_EQ(encoding.types, (Ids{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(encoding.sequences, (Ids{-1, 0, -1, 1, 1, -1}));
  EXPECT_EQ(spans(encoding), (Spans{{0, 0}, {0, 1}, {0, 0}, {0, 1}, {2, 3}, {0, 0}}));
  EXPECT_EQ(bert().encode("u", "u ,", false).ids, (Ids{8, 8, 7}));
}

TEST(Tokenizer, ALimitCutsTheLongerTextFirst) {
  const auto tokenizer = bert();
  EXPECT_EQ(tokenizer.special_count(false), 2u);
  EXPECT_EQ(tokenizer.encode("u , u , u", {}, true, 4).ids, (Ids{1, 8, 7, 2}));
  EXPECT_EQ(tokenizer.encode("u , u , u", {}, false, 4).ids, (Ids{8, 7, 8, 7}));
  EXPECT_EQ(tokenizer.encode("u ,", "u , u , u", true, 6).ids, (Ids{1, 8, 2, 8, 7, 2}));
  EXPECT_EQ(tokenizer.encode("u", "u , u , u", true, 6).ids, (Ids{1, 8, 2, 8, 7, 2}));
  EXPECT_EQ(tokenizer.encode("u", {}, true, 2).ids, (Ids{1, 2}));
  EXPECT_THROW(tokenizer.encode("u", {}, true, 1), Error);
}

TEST(Tokenizer, AnEmptyTextHasOnlySpecialTokens) {
  EXPECT_EQ(bert().encode("").ids, (Ids{1, 2}));
  EXPECT_EQ(bert().encode(" \t").ids, (Ids{1, 2}));
  EXPECT_TRUE(TokenizerJson().parse().encode("").ids.empty());
}

TEST(Tokenizer, BytesThatAreNoUtf8AreAnErrorThatNamesTheByte) {
  try {
    bert().encode("caf\xC3");
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("byte 3"), std::string::npos) << error.what();
  }
}

TEST(Tokenizer, MergesAreMadeInTheirOrder) {
  TokenizerJson made;
  // "aab": a a b -> the earlier merge is "a b", so a + ab, not aa + b.
  made.model = R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "aa": 3, "aab": 4},
                   "merges": ["a b", "a a"]})";
  EXPECT_EQ(made.parse().encode("aab").ids, (Ids{0, 2}));
  EXPECT_EQ(made.parse().encode("aaab").ids, (Ids{3, 2}));
  made.model = R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "aa": 3, "aab": 4},
                   "merges": [["a", "a"], ["aa", "b"]], "ignore_merges": true})";
  EXPECT_EQ(made.parse().encode("aab").ids, (Ids{4}));
  // Whole in the vocabulary, though no merge makes it.
  EXPECT_EQ(made.parse().encode("ab").ids, (Ids{2}));
}

TEST(Tokenizer, UnknownCharactersBecomeBytesOrOneUnknownToken) {
  TokenizerJson made;
  made.model = R"({"type": "BPE", "unk_token": "?", "fuse_unk": true, "byte_fallback": true,
                   "vocab": {"?": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}, "merges": []})";
  // e acute is C3 A9; the Euro sign is not all among the bytes.
  const auto encoding = made.parse().encode("a\xC3\xA9\xE2\x82\xAC\xE2\x82\xAC");
  EXPECT_EQ(encoding.ids, (Ids{1, 2, 3, 0}));
  EXPECT_EQ(spans(encoding), (Spans{{0, 1}, {1, 3}, {1, 3}, {3, 9}}));
}

TEST(Tokenizer, UnigramTakesTheBestSum) {
  TokenizerJson made;
  made.model = R"({"type": "Unigram", "unk_id": 0,
                   "vocab": [["?", 0], ["a", -1], ["b", -1], ["ab", -1.5], ["abb", -4]]})";
  // ab + b = -2.5; abb = -4; a + b + b = -3.
  EXPECT_EQ(made.parse().encode("abb").ids, (Ids{3, 2}));
  // Unknown neighbours are one.
  const auto encoding = made.parse().encode("xya");
  EXPECT_EQ(encoding.ids, (Ids{0, 1}));
  EXPECT_EQ(encoding.tokens, (Words{"xy", "a"}));
}

TEST(Tokenizer, AddedTokensAreFoundBeforeAllElse) {
  TokenizerJson made;
  made.added_tokens = "[" + added(4, "<m>", "lstrip") + "," + added(5, "<mm>", "rstrip special") +
                      "," + added(6, "word", "single_word") + "]";
  const auto tokenizer = made.parse();
  const auto encoding = tokenizer.encode("a  <m><mm>  word");
  EXPECT_EQ(encoding.ids, (Ids{1, 4, 5, 6}));
  EXPECT_EQ(spans(encoding), (Spans{{0, 1}, {1, 6}, {6, 12}, {12, 16}}));
  // Part of a longer word: not this token.
  EXPECT_EQ(tokenizer.encode("words").ids, (Ids{0}));
  EXPECT_EQ(tokenizer.size(), 7);
  EXPECT_EQ(tokenizer.id_of("<mm>"), 5);
  EXPECT_EQ(tokenizer.token_of(4), "<m>");
  EXPECT_TRUE(tokenizer.is_special(5));
  EXPECT_FALSE(tokenizer.is_special(4));
  EXPECT_FALSE(tokenizer.is_special(1));
  EXPECT_THROW(tokenizer.token_of(7), Error);
  EXPECT_EQ(tokenizer.id_of("nobody"), std::nullopt);
}

TEST(Tokenizer, AddedTokensMayBeSoughtInNormalisedText) {
  TokenizerJson made;
  made.normalizer = R"({"type": "Lowercase"})";
  made.added_tokens = "[" + added(4, "Day", "normalized") + "," + added(5, "Raw") + "]";
  EXPECT_EQ(made.parse().encode("DAYRaw").ids, (Ids{4, 5}));
  EXPECT_EQ(made.parse().encode("RAW").ids, (Ids{0}));
}

TEST(Tokenizer, ManyThreadsMayEncodeAtOnce) {
  const auto tokenizer = bert();
  const auto expected = tokenizer.encode("u , un cafe").ids;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t k = 0; k < wrong.size(); ++k) {
    threads.emplace_back([&, k] {
      for (int i = 0; i < 200; ++i)
        wrong[k] += tokenizer.encode("u , un cafe").ids != expected ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, (Ids{0, 0, 0, 0}));
}

}  // namespace
}  // namespace headwater
