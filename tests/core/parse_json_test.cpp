#include "headwater/core/parse_json.h"

#include <gtest/gtest.h>

#include <new>
#include <string>

#include "headwater/core/error.h"
#include "headwater/model/config.h"
#include "tests/support/failing_allocation.h"

namespace headwater {
namespace {

// "is not JSON" would send people to look for a mistake in a file that has none.
TEST(ParseJson, SaysThatMemoryIsMissingAndNotThatTheTextIsWrong) {
  std::string text = R"({"model_type": "bert", "words": [0)";
  for (int k = 1; k < 2000; ++k) text += ", " + std::to_string(k);
  text += "]}";
  bool parsed = false;
  for (long allocation = 0; !parsed && allocation < 1000; ++allocation) {
    const FailingAllocation failing(allocation);
    try {
      Config::parse(text, "config.json");
      parsed = true;
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      FAIL() << "allocation " << allocation << ": " << error.what();
    }
  }
  EXPECT_TRUE(parsed);
}

TEST(ParseJson, TakesWholeNumbersOfAnyLength) {
  const Config config =
      Config::parse(R"({"a": 1000000000000000019884624838656, "b": -99999999999999999999,)"
                    R"( "\"9\\": "12345678901234567890123", "c": 7, "d": 1e40})",
                    "config.json");
  EXPECT_EQ(config.number("a"), 1e30);
  EXPECT_EQ(config.number("b"), -1e20);
  EXPECT_EQ(config.text("\"9\\"), "12345678901234567890123");
  EXPECT_EQ(config.integer("c"), 7);
  EXPECT_THROW(Config::parse(R"({"a": 01000000000000000019884624838656})", "config.json"), Error);
}

}  // namespace
}  // namespace headwater
