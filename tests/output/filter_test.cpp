#include "headwater/result/filter.h"

#include <gtest/gtest.h>

#include <fstream>

#include "headwater/core/error.h"
#include "headwater/result/left_out.h"
#include "headwater/result/token_class.h"

namespace headwater {
namespace {

TEST(Filter, KnowsSpecialTokens) {
  for (const char* token :
       {"[CLS]", "[SEP]", "[PAD]", "[MASK]", "[unused12]", "<s>", "</s>", "<pad>", "<mask>",
        "<bos>", "<eos>", "<|endoftext|>", "<|im_start|>", "<start_of_turn>", "<extra_id_7>"})
    EXPECT_TRUE(is_special(token)) << token;
  for (const char* token : {"", "[", "[]", "<>", "[sic]", "[12]", "<b>", "<div>", "CLS", "[CLS",
                            "a", "</p>", "[UNK]", "<unk>"})
    EXPECT_FALSE(is_special(token)) << token;
}

TEST(Filter, KnowsPunctuation) {
  for (const char* text : {".", ",", "...", "--", "\u2014", "\u201c", "\u3002", "\uff0c", "\u060c",
                           "$", "\u20ac", "\n", ".\n\n", " ", "\t"})
    EXPECT_TRUE(is_punctuation(text)) << text;
  for (const char* text : {"", "a", "1", "a.", "\u00e9", "\u4f60", "\u00b2", "a\n"})
    EXPECT_FALSE(is_punctuation(text)) << text;
}

TEST(Filter, KnowsCommonWords) {
  for (const char* text : {"the", "The", "OF", "is", "would"}) EXPECT_TRUE(is_common(text)) << text;
  for (const char* text : {"cat", "keys", "\u00b7s", ""}) EXPECT_FALSE(is_common(text)) << text;
}

TEST(Filter, KeepsWhatNothingNames) {
  const std::vector<std::string> tokens = {"[CLS]", "\u0120The", "\u0120cat", ".", "[SEP]"};
  EXPECT_EQ(kept({}, tokens), (std::vector<bool>{true, true, true, true, true}));
  EXPECT_EQ(kept(parse_filter("special"), tokens),
            (std::vector<bool>{false, true, true, true, false}));
  EXPECT_EQ(kept(parse_filter("special,punctuation,common"), tokens),
            (std::vector<bool>{false, false, true, false, false}));
  Filter filter;
  filter.words = {"cat", "[SEP]"};
  EXPECT_EQ(kept(filter, tokens), (std::vector<bool>{true, true, false, true, false}));
}

TEST(Filter, LeavesOutLineEndsAndSplitPunctuationButNoUnknownWord) {
  // A line end, a full stop with one, and the ideographic full stop in two parts.
  const std::vector<std::string> tokens = {"\u0120a",      "\u010a", ".\u010a\u010a",
                                           "\u00e3\u0122", "\u0124", "<unk>"};
  EXPECT_EQ(kept(parse_filter("special,punctuation"), tokens),
            (std::vector<bool>{true, false, false, false, false, true}));
}

TEST(Filter, ReadsTokensFromAFile) {
  const std::string path = testing::TempDir() + "filter.txt";
  std::ofstream(path) << "cat\r\n\nthe dog\n##s";
  EXPECT_EQ(parse_filter("@" + path).words, (std::set<std::string>{"cat", "the dog", "##s"}));
}

TEST(Filter, NamesTheNearestWordForAnUnknownOne) {
  try {
    parse_filter("special,punctation");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::usage);
    EXPECT_NE(std::string(error.what()).find("punctuation"), std::string::npos) << error.what();
  }
  EXPECT_THROW(parse_filter(""), Error);
  EXPECT_THROW(parse_filter("special,"), Error);
  EXPECT_THROW(parse_filter("@"), Error);
}

TEST(Filter, SaysThatAFileCannotBeRead) {
  EXPECT_THROW(parse_filter("@/not/there"), Error);
  EXPECT_THROW(parse_filter("@/tmp"), Error) << "a folder";
}

TEST(LeftOut, IsAShareOfTheRow) {
  const std::vector<float> row = {0.5f, 0.25f, 0.25f};
  EXPECT_DOUBLE_EQ(mass_left_out(row, {false, true, true}), 0.5);
  EXPECT_DOUBLE_EQ(mass_left_out(row, {true, true, true}), 0);
  EXPECT_DOUBLE_EQ(mass_left_out(std::vector<float>{0, 0}, {false, true}), 0);
  std::vector<float> out(3);
  renormalise(row, {false, true, true}, out);
  EXPECT_EQ(out, (std::vector<float>{0, 0.5f, 0.5f}));
  renormalise(row, {false, false, false}, out);
  EXPECT_EQ(out, (std::vector<float>{0, 0, 0}));
}

}  // namespace
}  // namespace headwater
