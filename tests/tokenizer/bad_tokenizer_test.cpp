// Files that are not a tokenizer, or not one that we know: one sentence says what is wrong.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/hostile_folder.h"
#include "tests/tokenizer/made.h"

namespace headwater {
namespace {

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of(const TokenizerJson& made) {
  return error_of([&] { made.parse(); });
}

::testing::AssertionResult says(const std::string& error, const std::string& part) {
  if (error.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << error << "\" does not say \"" << part << "\"";
}

TEST(BadTokenizer, AnUnknownComponentIsNamedWithThoseThatAreKnown) {
  TokenizerJson made;
  made.pre_tokenizer = R"({"type": "Foo"})";
  EXPECT_TRUE(
      says(error_of(made), "tokenizer.json: pre_tokenizer 'Foo' is not one that headwater"));
  EXPECT_TRUE(says(error_of(made), "BertPreTokenizer"));
  made = {};
  made.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Bar"}]})";
  EXPECT_TRUE(says(error_of(made), "normalizer 'Bar'"));
  made = {};
  made.model = R"({"type": "Markov"})";
  EXPECT_TRUE(says(error_of(made), "model 'Markov'"));
  made = {};
  made.post_processor = R"({"type": "P"})";
  EXPECT_TRUE(says(error_of(made), "post_processor 'P'"));
  made = {};
  made.decoder = R"({"type": "D"})";
  EXPECT_TRUE(says(error_of(made), "decoder 'D'"));
}

TEST(BadTokenizer, AnUnknownOptionIsNamed) {
  TokenizerJson made;
  made.pre_tokenizer = R"({"type": "Whitespace", "mystery": 1})";
  EXPECT_TRUE(says(error_of(made), "\"mystery\""));
  EXPECT_TRUE(
      says(error_of([] { Tokenizer::parse(R"({"version": "1.0", "new": 1, "model": {}})", "f"); }),
           "f"));
  made = {};
  made.pre_tokenizer = R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Odd",
                           "invert": false})";
  EXPECT_TRUE(says(error_of(made), "'Odd'"));
}

TEST(BadTokenizer, AMissingOptionIsNamed) {
  TokenizerJson made;
  made.model = R"({"type": "WordPiece", "unk_token": "?", "vocab": {}})";
  EXPECT_TRUE(says(error_of(made), "\"continuing_subword_prefix\""));
  made.model = R"({"type": "BPE", "vocab": {}})";
  EXPECT_TRUE(says(error_of(made), "\"merges\""));
  EXPECT_TRUE(says(error_of([] { Tokenizer::parse("{}", "f"); }), "\"model\""));
  EXPECT_TRUE(says(error_of([] { Tokenizer::parse("[1", "f"); }), "is not JSON"));
  EXPECT_TRUE(says(error_of([] { Tokenizer::open("/nowhere/tokenizer.json"); }), "tokenizer.json"));
}

TEST(BadTokenizer, AbsurdIdsAreRefused) {
  for (const char* id : {"2147483648", "-1", "1.5", "1e3", "\"1\"", "18446744073709551616"}) {
    TokenizerJson made;
    made.model =
        fmt::format(R"({{"type": "WordLevel", "unk_token": "a", "vocab": {{"a": {}}}}})", id);
    EXPECT_NE(error_of(made), "no error") << id;
  }
}

TEST(BadTokenizer, IdsMayHaveGapsAndMayBeShared) {
  TokenizerJson made;
  made.model = R"({"type": "WordLevel", "unk_token": "?",
                   "vocab": {"?": 0, "a": 2147483647, "b": 7, "c": 7}})";
  const auto tokenizer = made.parse();
  EXPECT_EQ(tokenizer.encode("a").ids, (Ids{2147483647}));
  EXPECT_EQ(tokenizer.token_of(7), "b");
  EXPECT_EQ(tokenizer.encode("c").ids, (Ids{7}));
}

TEST(BadTokenizer, MergesOfTokensThatAreNotThereAreRefused) {
  TokenizerJson made;
  for (const char* merges :
       {R"(["a c"])", R"(["a b c"])", R"(["ab"])", R"([["a"]])", R"([1])", R"([["a", "b"]])"}) {
    made.model =
        fmt::format(R"({{"type": "BPE", "vocab": {{"a": 0, "b": 1}}, "merges": {}}})", merges);
    EXPECT_TRUE(says(error_of(made), "\"merges\"")) << merges;
  }
}

TEST(BadTokenizer, RandomTokensAreRefused) {
  TokenizerJson made;
  made.model = R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.1})";
  EXPECT_TRUE(says(error_of(made), "\"dropout\""));
  made.model = R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": null})";
  EXPECT_EQ(error_of(made), "no error");
}

TEST(BadTokenizer, ABrokenCharsmapIsAnError) {
  TokenizerJson made;
  const auto with = [&](const std::string& base64) {
    made.normalizer =
        fmt::format(R"({{"type": "Precompiled", "precompiled_charsmap": "{}"}})", base64);
    return error_of([&] { made.parse().encode("abc"); });
  };
  EXPECT_TRUE(says(with("***"), "base64"));
  EXPECT_TRUE(says(with("AAA="), "bytes long"));
  EXPECT_TRUE(says(with("/////w=="), "trie of"));
  // No trie at all, and one unit that leads far away.
  EXPECT_TRUE(says(with("AAAAAA=="), "unit 0"));
  EXPECT_TRUE(says(with("BAAAAAD8//8="), "its trie"));
}

TEST(BadTokenizer, SequencesInSequencesEndSomewhere) {
  TokenizerJson made;
  std::string deep = R"({"type": "NFC"})";
  for (int i = 0; i < 100; ++i) deep = R"({"type": "Sequence", "normalizers": [)" + deep + "]}";
  made.normalizer = deep;
  EXPECT_TRUE(says(error_of(made), "deeper than"));
}

TEST(BadTokenizer, APatternThatNeverEndsIsAnError) {
  TokenizerJson made;
  made.pre_tokenizer = R"({"type": "Split", "pattern": {"Regex": "(x+x+)+[yz][yz]"},
                           "behavior": "Isolated", "invert": false})";
  const auto tokenizer = made.parse();
  EXPECT_TRUE(says(error_of([&] { tokenizer.encode(std::string(5000, 'x') + "y"); }), "gave up"));
  made.pre_tokenizer = R"({"type": "Split", "pattern": {"Regex": "["}, "behavior": "Isolated",
                           "invert": false})";
  EXPECT_TRUE(says(error_of(made), "not a regular expression"));
}

TEST(BadTokenizer, TextsThatGrowWithoutEndAreAnError) {
  TokenizerJson made;
  std::string rule = R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaa"})";
  std::string rules = rule;
  for (int i = 0; i < 11; ++i) rules += "," + rule;
  made.normalizer = R"({"type": "Sequence", "normalizers": [)" + rules + "]}";
  EXPECT_TRUE(says(error_of([&] { made.parse().encode("a"); }), "times as many"));
  made.normalizer = "null";
  made.decoder = R"({"type": "Sequence", "decoders": [)" + rules + "]}";
  EXPECT_TRUE(says(error_of([&] { made.parse().decode(Ids{1}); }), "times as many"));
}

TEST(BadTokenizer, StepsThatEachDoubleTheTextAreAnError) {
  const auto repeated = [](const std::string& step, int times) {
    std::string all = step;
    for (int i = 1; i < times; ++i) all += "," + step;
    return all;
  };
  TokenizerJson made;
  const std::string byte_level =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";
  made.pre_tokenizer =
      R"({"type": "Sequence", "pretokenizers": [)" + repeated(byte_level, 26) + "]}";
  EXPECT_TRUE(says(error_of([&] { made.parse().encode("\u00e9"); }), "times as many"));
  const std::string doubled = R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})";
  made.pre_tokenizer = "null";
  made.normalizer = R"({"type": "Sequence", "normalizers": [)" + repeated(doubled, 25) + "]}";
  EXPECT_TRUE(says(error_of([&] { made.parse().encode("a"); }), "times as many"));
}

TEST(BadTokenizer, PatternsHaveOneBudgetForAText) {
  const std::string split = R"({"type": "Split", "pattern": {"Regex": "(a+)+c|a"},
                                "behavior": "Isolated", "invert": false})";
  std::string all = split;
  for (int i = 1; i < 100; ++i) all += "," + split;
  TokenizerJson made;
  made.pre_tokenizer = R"({"type": "Sequence", "pretokenizers": [)" + all + "]}";
  const auto tokenizer = made.parse();
  const std::string text(21, 'a');
  EXPECT_TRUE(says(error_of([&] { tokenizer.encode(text + " " + text + " " + text); }), "gave up"));
}

TEST(BadTokenizer, WhatTheFuzzerBeginsWithIsReadOrRefusedAsRecorded) {
  test::expect_outcomes("tokenizer/hostile", "expected.txt", [](const std::string& path) {
    const Encoding encoding = Tokenizer::open(path).encode("a b");
    std::string ids;
    for (const int id : encoding.ids) ids += " " + std::to_string(id);
    return "'a b' is" + ids;
  });
}

TEST(BadTokenizer, TemplatesSpeakOnlyOfWhatIsThere) {
  TokenizerJson made;
  const auto with = [&](const std::string& single, const std::string& special) {
    made.post_processor = fmt::format(R"({{"type": "TemplateProcessing", "single": [{}], "pair": [],
                         "special_tokens": {{{}}}}})",
                                      single, special);
    return error_of(made);
  };
  EXPECT_TRUE(says(with(R"({"SpecialToken": {"id": "X", "type_id": 0}})", ""), "'X'"));
  EXPECT_TRUE(says(with(R"({"Sequence": {"id": "B", "type_id": 0}})", ""), "'B'"));
  EXPECT_TRUE(says(with("", R"("X": {"id": "X", "ids": [1, 2], "tokens": ["X"]})"), "2 ids"));
}

TEST(BadTokenizer, TemplatesThatLeaveATextOutAreErrorsWhenTheyAreNeeded) {
  TokenizerJson made;
  const std::string a = R"({"Sequence": {"id": "A", "type_id": 0}})";
  for (const std::string& pair : {std::string(), a}) {
    made.post_processor = fmt::format(
        R"({{"type": "TemplateProcessing", "single": [{}], "pair": [{}], "special_tokens": {{}}}})",
        a, pair);
    const auto tokenizer = made.parse();
    EXPECT_FALSE(tokenizer.encode("a").ids.empty());
    EXPECT_TRUE(says(error_of([&] { tokenizer.encode("a", "b"); }), "its template for pairs"));
  }
  made.post_processor =
      R"({"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}})";
  EXPECT_TRUE(says(error_of([&] { made.parse().encode("a"); }),
                   "its template for single texts leaves out"));
}

TEST(BadTokenizer, NoTokenForUnknownTextIsAnErrorWhenItIsNeeded) {
  TokenizerJson made;
  made.model = R"({"type": "Unigram", "unk_id": null, "vocab": [["a", -1]]})";
  EXPECT_EQ(made.parse().encode("aa").ids, (Ids{0, 0}));
  EXPECT_TRUE(says(error_of([&] { made.parse().encode("b"); }), "unk_id"));
  made.model = R"({"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"a": 0}})";
  EXPECT_TRUE(says(error_of([&] { made.parse().encode("b"); }), "[UNK]"));
  made.model = R"({"type": "Unigram", "unk_id": 5, "vocab": [["a", -1]]})";
  EXPECT_TRUE(says(error_of(made), "\"unk_id\" is 5"));
}

TEST(BadTokenizer, AHundredThousandAddedTokensAreFoundAtOnce) {
  TokenizerJson made;
  std::string list;
  for (int i = 0; i < 100'000; ++i)
    list += (i > 0 ? "," : "") + added(4 + i, fmt::format("<{}>", i));
  made.added_tokens = "[" + list + "]";
  const auto tokenizer = made.parse();
  EXPECT_EQ(tokenizer.size(), 100'004);
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "<99999>";
  const auto encoding = tokenizer.encode(text);
  EXPECT_EQ(encoding.ids, Ids(10'000, 100'003));
}

}  // namespace
}  // namespace headwater
