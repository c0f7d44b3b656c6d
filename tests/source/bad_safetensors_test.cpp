// safetensors files with one thing wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/build_safetensors.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

const Bytes map = encode(DType::f32, {1, 0, 0.5, 0.5});

class BadSafetensors : public testing::Test {
 protected:
  void expect_bad(const std::string& header, const Bytes& data, std::vector<std::string> parts) {
    expect_bad_file(folder_.write("a.safetensors", safetensors_of(header, data)), std::move(parts));
  }
  static std::string entry(const char* name, uint64_t begin, uint64_t end) {
    return safetensors_entry(name, "F32", {2, 2}, begin, end);
  }
  Folder folder_;
};

TEST_F(BadSafetensors, IsGoodBeforeAnythingIsWrong) {
  EXPECT_NO_THROW(read_through(
      folder_.write("a.safetensors", safetensors_of("{" + entry("a", 0, 16) + "}", map))));
  // The header may list the arrays in another order than their numbers have.
  const std::string turned = "{" + entry("a", 16, 32) + "," + entry("b", 0, 16) + "}";
  EXPECT_NO_THROW(read_through(folder_.write("a.safetensors", safetensors_of(turned, map + map))));
}

TEST_F(BadSafetensors, HasArraysThatOverlapLeaveGapsOrEndOutside) {
  const auto two = [&](uint64_t begin, uint64_t end) {
    return "{" + entry("a", 0, 16) + "," + entry("b", begin, end) + "}";
  };
  expect_bad(two(0, 16), map, {"overlap", "byte 0"});
  expect_bad(two(8, 24), map + map, {"overlap", "byte 8"});
  expect_bad(two(20, 36), map + map + map, {"gap", "byte 16"});
  expect_bad("{" + entry("a", 4, 20) + "}", map + map, {"gap", "byte 0"});
  expect_bad("{" + entry("a", 0, 16) + "}", map + "more", {"4 bytes follow"});
  expect_bad(two(16, 32), map, {"array 'b'", "16 to 32", "16 bytes"});
  expect_bad(two(32, 16), map + map, {"array 'b'", "32 to 16"});
  expect_bad(two(18446744073709551600u, 18446744073709551615u), map, {"array 'b'"});
  expect_bad(two(16, 20), map + "more",
             {"array 'b'", "has 4 bytes", "expected 16", "[2, 2] of f32"});
}

TEST_F(BadSafetensors, HasANameTwice) {
  expect_bad("{" + entry("a", 0, 16) + "," + entry("a", 16, 32) + "}", map + map,
             {"array 'a'", "twice"});
}

TEST_F(BadSafetensors, ClaimsAHeaderThatIsNotThere) {
  for (uint64_t length : {uint64_t{1000}, uint64_t{100'000'001}, uint64_t{1} << 40, ~uint64_t{0}}) {
    Bytes bytes;
    append(bytes, length);
    bytes += "{}";
    bytes += map;
    expect_bad_file(folder_.write("a.safetensors", bytes),
                    {fmt::format("header of {} bytes", length)});
  }
  expect_bad_file(folder_.write("a.safetensors", "short"), {"5 bytes long"});
}

TEST_F(BadSafetensors, HasAHeaderOverTheLimitOfTheFormat) {
  Bytes bytes;
  append(bytes, uint64_t{100'000'001});
  bytes.resize(8 + 100'000'001, ' ');
  expect_bad_file(folder_.write("a.safetensors", bytes), {"100000001", "100000000"});
}

TEST_F(BadSafetensors, HasAHeaderThatIsNotWhatItShouldBe) {
  expect_bad("", map, {"header is not a JSON object"});
  expect_bad("[]", map, {"header is not a JSON object"});
  expect_bad("{\"a\"}", map, {"header is not a JSON object"});
  expect_bad(std::string(100'000, '['), map, {"header is not a JSON object"});
  std::string deep;
  for (int k = 0; k < 100'000; ++k) deep += "{\"a\":";
  expect_bad(deep, map, {"header is not a JSON object"});
  expect_bad("{\"a\xff\": 1}", map, {"header is not a JSON object"});
  for (const char* value : {"1", "null", "[]", "{}", R"({"dtype":"F32","shape":[2,2]})",
                            R"({"dtype":32,"shape":[2,2],"data_offsets":[0,16]})",
                            R"({"dtype":"F32","shape":4,"data_offsets":[0,16]})",
                            R"({"dtype":"F32","shape":[2,2],"data_offsets":[0,16],"more":1})",
                            R"({"dtype":"F32","dtype":"F32","shape":[2,2],"data_offsets":[0,16]})"})
    expect_bad(std::string(R"({"a":)") + value + "}", map, {"array 'a'", "described wrongly"});
  for (const char* offsets : {"[]", "[0]", "[0,16,32]", "[-1,16]", "[0,\"16\"]", "[0,16.5]"})
    expect_bad(fmt::format(R"({{"a":{{"dtype":"F32","shape":[2,2],"data_offsets":{}}}}})", offsets),
               map, {"array 'a'", "data_offsets"});
  for (const char* shape : {"[2,null]", "[\"2\",2]", "[2.5,2]", "[18446744073709551615,2]"})
    expect_bad(fmt::format(R"({{"a":{{"dtype":"F32","shape":{},"data_offsets":[0,16]}}}})", shape),
               map, {"array 'a'", "shape"});
}

TEST_F(BadSafetensors, ClaimsSizesThatNoFileHas) {
  const auto one = [](const std::vector<int64_t>& shape, const char* type = "F32") {
    return "{" + safetensors_entry("a", type, shape, 0, 16) + "}";
  };
  expect_bad(one({int64_t{1} << 60}), map, {"array 'a'", "length"});
  expect_bad(one({1 << 30, 1 << 30, 1 << 30, 1 << 30}), map, {"array 'a'", "fits"});
  expect_bad(one({-2, -2}), map, {"array 'a'", "length -2"});
  expect_bad(one({0, 2, 2}), map, {"array 'a'", "length 0"});
  expect_bad(one({2, 2}, "F8_E4M3"), map, {"array 'a'", "'F8_E4M3'", "F16, BF16, F32 or F64"});
  expect_bad(one({2, 2}, "I32"), map, {"type i32"});
  expect_bad("{}", "", {"no attention"});
  expect_bad(R"({"__metadata__":{}})", "", {"no attention"});
}

TEST_F(BadSafetensors, HasTokensThatAreNone) {
  const auto with = [&](const std::string& metadata) {
    return "{\"__metadata__\":" + metadata + "," + entry("a", 0, 16) + "}";
  };
  expect_bad(with(R"({"tokens":"[\"a\"]"})"), map, {"1 tokens", "expected 2"});
  expect_bad(with(R"({"tokens":"not json"})"), map, {"metadata 'tokens'", "not JSON"});
  expect_bad(with(R"({"tokens":"{}"})"), map, {"metadata 'tokens'", "list of strings"});
  expect_bad(with(R"({"tokens":"[1, 2]"})"), map, {"metadata 'tokens'", "not a string"});
  expect_bad(with(R"({"tokens":["a", "b"]})"), map, {"metadata 'tokens'"});
  expect_bad(with("3"), map, {"__metadata__"});
}

}  // namespace
}  // namespace headwater::test
