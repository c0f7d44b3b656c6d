// What a model continues.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace headwater {

/// How a text starts, and what ends it.
struct GenerationInput {
  std::string prompt = {};                       // the start of the text, or
  std::vector<int> ids = {};                     // its tokens by number; nothing is added to them
  std::optional<std::string> continuation = {};  // a given text after the prompt
  std::vector<std::string> stops = {};  // words or ids that end the text, like the model's own
  bool ignore_code = false;             // run a model although its folder has code of its own
};

}  // namespace headwater
