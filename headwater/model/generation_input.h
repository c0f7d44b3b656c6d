// What a model is to write after.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace headwater {

/// What a text begins with, and what ends it.
struct GenerationInput {
  std::string prompt = {};                       // or
  std::vector<int> ids = {};                     // tokens by number; nothing is added to them
  std::optional<std::string> continuation = {};  // a text that is already there, after the prompt
  std::vector<std::string> stops = {};  // words or ids that end the text like the model's own
};

}  // namespace headwater
