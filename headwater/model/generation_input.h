// The input of a model that generates text.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace headwater {

/// How a text starts, and what ends it.
struct GenerationInput {
  std::string prompt = {};  // the start of the text, or
  /// The source of a model with an encoder (T5, BART), whose target starts with the prompt, which
  /// may be empty.
  std::optional<std::string> text = {};
  /// What the model reads, whichever kind it is: in place of `text` if it has an encoder, else of
  /// `prompt`.
  std::optional<std::string> reads = {};
  std::vector<int> ids = {};                     // the same by number; nothing is added to them
  std::optional<std::string> continuation = {};  // a given text after the prompt
  std::vector<std::string> stops = {};  // words or ids that end the text, like the model's own
  bool ignore_code = false;             // run a model although its folder has code of its own
};

}  // namespace headwater
