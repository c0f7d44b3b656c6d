// "decoder" of a tokenizer.json: from tokens back to text.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/model/tokenizer/json_part.h"

namespace headwater {

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// The texts of the tokens, ready to be joined. Thread-safe.
  virtual std::vector<std::string> apply(std::vector<std::string> tokens) const = 0;
};

/// Throws Error for an unknown type or option.
std::unique_ptr<Decoder> read_decoder(JsonPart part, int depth = 0);

}  // namespace headwater
