#include "server/question.h"

#include <gtest/gtest.h>

#include "headwater/core/error.h"

namespace headwater::server {
namespace {

std::string refused(std::string_view json) {
  try {
    parse_question(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::usage);
    return error.what();
  }
  return "taken";
}

TEST(Question, HasTheWordsOfTheCommandLine) {
  const Question question = parse_question(
      R"({"model": "facts", "method": "rollout", "text": "It's here", "row": "last",
          "layers": "1:3", "fuse": "head:2", "residual": "0.25", "keep": true})");
  EXPECT_EQ(question.options.row, Row::last);
  EXPECT_EQ(question.options.layers, (Slice{1, 3}));
  EXPECT_EQ(question.options.fuse, Fuse::one(2));
  EXPECT_EQ(question.options.residual, 0.25);
  EXPECT_TRUE(question.keep);
  EXPECT_EQ(command_of(question, false),
            "headwater rollout facts --text 'It'\\''s here' --row last --layers 1:3 --fuse head:2 "
            "--residual 0.25 --embed-layers -o page.html");
}

TEST(Question, HasATextOfAMillionBytesAtMost) {
  const auto with = [](const std::string& text, const std::string& pair) {
    return refused(R"({"model": "facts", "text": ")" + text + R"(", "pair": ")" + pair + "\"}");
  };
  EXPECT_EQ(with(std::string(1'000'000, 'a'), "b"), "taken");
  EXPECT_EQ(with(std::string(1'000'001, 'a'), "b"),
            "`text`: has 1000001 bytes, expected at most 1000000; cut it");
  EXPECT_EQ(with("a", std::string(1'000'001, 'b')),
            "`pair`: has 1000001 bytes, expected at most 1000000; cut it");
}

TEST(Question, IsNeverAPath) {
  const Question question = parse_question(
      R"({"method": "flow", "file": {"name": "../../etc/passwd\u0000.npz", "data": "AAEC"}})");
  EXPECT_EQ(question.file->bytes, std::string("\0\1\2", 3));
  EXPECT_EQ(question.file->name.find('/'), std::string::npos);
  EXPECT_EQ(question.file->name.find('\0'), std::string::npos);
}

TEST(Question, RefusesWhatAComparisonSetsItself) {
  const auto with = [](const std::string& by, const std::string& option) {
    return refused(R"({"model": "m", "text": "t", "method": "compare", "by": ")" + by + "\", " +
                   option + "}");
  };
  EXPECT_EQ(with("head", R"("residual": "0.2")"),
            "`residual`: was given with `by` head, expected none; leave it out");
  EXPECT_EQ(with("fuse", R"("fuse": "max")"),
            "`fuse`: was given with `by` fuse, expected none; leave it out");
  EXPECT_EQ(with("discard", R"("discard": "0.2")"),
            "`discard`: was given with `by` discard, expected none; leave it out");
  EXPECT_EQ(with("method", R"("layer": "1")"),
            "`layer`: was given with `by` method, expected none; leave it out");
  EXPECT_EQ(with("model", R"("other": "n", "row": "keys")"),
            "`row` keys: rows of two models are pieces of the text that both share, expected a "
            "number; see the tokens of the result");
  EXPECT_EQ(with("discard", R"("residual": "0.2", "fuse": "max")"), "taken");
}

TEST(Question, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refused(R"({"model": "m", "text": "t", "rows": "1"})"),
            "unknown option 'rows'; did you mean 'row'?");
  EXPECT_EQ(refused(R"({"model": "m", "text": "t", "method": "rolout"})"),
            "unknown method 'rolout'; did you mean 'rollout'?");
  EXPECT_EQ(refused(R"({"model": "m", "text": "t", "target": "plural"})"),
            "`target`: rollout does not take it, expected row layers fuse residual discard keep; "
            "leave it out");
  EXPECT_EQ(refused(R"({"model": "m", "text": "t", "residual": "1.5x"})"),
            "`residual` '1.5x': is not a number, expected one; change it");
  EXPECT_NE(refused(R"({"model": "m", "text": "t", "residual": "2"})"), "taken");
  EXPECT_NE(refused(R"({"model": "m", "text": "t", "row": "3,"})"), "taken");
  EXPECT_NE(refused(R"({"model": "m", "text": "t", "text": "u"})"), "taken");
  EXPECT_NE(refused(R"({"model": "m", "text": 3})"), "taken");
  EXPECT_NE(refused(R"({"model": "m", "text": "t", "keep": "yes"})"), "taken");
  for (const char* json : {"", "[]", "3", "{", "{\"model\": }", "null"})
    EXPECT_NE(refused(json), "taken") << json;
}

TEST(Question, HasOneInput) {
  EXPECT_EQ(refused(R"({"model": "m"})"),
            "the question has 0 inputs, expected one: a text, an image or a file");
  EXPECT_NE(refused(R"({"model": "m", "text": "t", "example": "0"})"), "taken");
  EXPECT_NE(refused(R"({"text": "t"})"), "taken");
  EXPECT_NE(refused(R"({"model": "m", "file": {"name": "x.npz", "data": ""}})"), "taken");
  EXPECT_NE(refused(R"({"file": {"name": "x.npz", "data": "*"}})"), "taken");
  EXPECT_NE(refused(R"({"file": {"name": "x.npz"}})"), "taken");
  EXPECT_NE(refused(R"({"model": "m", "pair": "u", "example": "0"})"), "taken");
  EXPECT_NE(refused(R"({"model": "m", "text": "t", "method": "compare", "by": "model"})"), "taken");
}

}  // namespace
}  // namespace headwater::server
