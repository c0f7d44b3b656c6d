// JSON files with one thing wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "tests/support/bytes.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

class BadJson : public testing::Test {
 protected:
  void expect_bad(const std::string& text, std::vector<std::string> parts) {
    expect_bad_file(folder_.write("a.json", text), std::move(parts));
  }
  void expect_bad_attentions(const std::string& value, std::vector<std::string> parts) {
    parts.emplace_back("\"attentions\"");
    expect_bad("{\"attentions\": " + value + "}", std::move(parts));
  }
  Folder folder_;
};

TEST_F(BadJson, IsNoJson) {
  expect_bad("not json", {"is not JSON"});
  expect_bad("{\"attentions\": [[1]]} and more", {"is not JSON"});
  expect_bad("{\"attentions\": [[NaN]]}", {"is not JSON"});
  expect_bad("{\"attentions\": [[1e999]]}", {"is not JSON"});
  expect_bad("{\"a\xff\": [[1]]}", {"is not JSON"});
  expect_bad("[[1]]", {"not a JSON object", "attentions"});
  expect_bad("{}", {"has no \"attentions\""});
}

TEST_F(BadJson, IsNestedWithoutEnd) {
  expect_bad(std::string(100'000, '['), {"is not JSON"});
  std::string deep = "{\"attentions\": " + std::string(100'000, '[') + "1";
  expect_bad(deep + std::string(100'000, ']') + "}", {"is not JSON"});
  deep = "{\"attentions\": " + std::string(500, '[') + "1" + std::string(500, ']') + "}";
  expect_bad(deep, {"deeper than 8"});
}

TEST_F(BadJson, IsLargerThanAParserShouldHold) {
  const std::string path = folder_.write("a.json", "{");
  std::filesystem::resize_file(path, (std::uintmax_t{1} << 30) + 1);  // sparse
  expect_bad_file(path, {"is 1073741825 bytes long", "at most 1 GiB", ".safetensors"});
}

TEST_F(BadJson, HasAKeyTwice) {
  expect_bad(R"({"attentions": [[1]], "attentions": [[1]]})", {"\"attentions\"", "twice"});
  expect_bad(R"({"attentions": [[1]], "tokens": ["a"], "tokens": ["a"]})", {"\"tokens\"", "twice"});
  expect_bad(R"({"attention_mask": [1], "attentions": [[1]], "attention_mask": [1]})",
             {"\"attention_mask\"", "twice"});
}

TEST_F(BadJson, HasOtherThingsThanNumbers) {
  expect_bad_attentions("null", {"is null", "a list"});
  expect_bad_attentions("{}", {"a list"});
  expect_bad_attentions("\"1\"", {"a list"});
  expect_bad_attentions("3.5", {"a list"});
  expect_bad_attentions("[]", {"empty list"});
  expect_bad_attentions("[[]]", {"empty list"});
  expect_bad_attentions("[[null]]", {"null", "a number", "level 2"});
  expect_bad_attentions("[[1, \"0\"], [0, 1]]", {"a number", "level 2"});
  expect_bad_attentions("[[1, 0], [false, 1]]", {"a number", "level 2"});
  expect_bad_attentions("[[1, 0], [[0], 1]]", {"a list where a number was expected", "level 2"});
  expect_bad_attentions("[[1, 0], 1]", {"a list was expected", "level 1"});
}

TEST_F(BadJson, IsRaggedOrNotSquare) {
  expect_bad_attentions("[[1, 0], [1]]", {"ragged", "level 2", "1 entries", "expected 2"});
  expect_bad_attentions("[[1, 0], [1, 0, 0]]", {"ragged", "3 entries"});
  expect_bad_attentions("[[[1, 0], [0, 1]], [[1, 0]]]", {"ragged", "level 2"});
  expect_bad("{\"attentions\": [[1, 0, 0], [0, 1, 0]]}", {"2 x 3", "square"});
  expect_bad("{\"attentions\": [1, 0]}", {"1 axes"});
}

TEST_F(BadJson, HasTokensThatAreNone) {
  const auto with = [](const std::string& tokens) {
    return R"({"attentions": [[1, 0], [0, 1]], "tokens": )" + tokens + "}";
  };
  expect_bad(with("null"), {"\"tokens\"", "list of strings"});
  expect_bad(with("\"ab\""), {"\"tokens\"", "list of strings"});
  expect_bad(with("[1, 2]"), {"\"tokens\"", "not a string"});
  expect_bad(with("[\"a\", null]"), {"\"tokens\"", "not a string"});
  expect_bad(with("[\"a\", [\"b\"]]"), {"\"tokens\"", "not a string"});
  expect_bad(with("[[\"a\", \"b\"], \"c\"]"), {"\"tokens\"", "not a string"});
  expect_bad(with("[[\"a\", \"b\"], [\"c\"]]"), {"\"tokens\"", "different lengths"});
  expect_bad(with("[[\"a\", \"b\"], [\"c\", \"d\"]]"), {"4 tokens in 2 list(s)", "expected 2"});
  expect_bad(with("[]"), {"0 tokens", "expected 2"});
  expect_bad(with("[\"a\", \"b\", \"c\"]"), {"3 tokens", "expected 2"});
}

TEST_F(BadJson, HasAMaskThatIsNone) {
  const auto with = [](const std::string& mask) {
    return R"({"attentions": [[1, 0], [0, 1]], "attention_mask": )" + mask + "}";
  };
  expect_bad(with("[1]"), {"attention_mask", "[1]", "expected [2] or [1, 2]"});
  expect_bad(with("[1, 1, 1]"), {"attention_mask", "[3]"});
  expect_bad(with("[[1, 1], [1, 1]]"), {"attention_mask", "[2, 2]"});
  expect_bad(with("[[[1, 1]]]"), {"attention_mask", "[1, 1, 2]"});
  expect_bad(with("[0, 0]"), {"attention_mask leaves no token of item 0"});
  expect_bad(with("[1, null]"), {"attention_mask", "null"});
  expect_bad(with("null"), {"attention_mask"});
}

}  // namespace
}  // namespace headwater::test
