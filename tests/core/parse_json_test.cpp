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

}  // namespace
}  // namespace headwater
