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
  /// The texts of the tokens, to be joined. Safe from several threads.
  virtual std::vector<std::string> apply(std::vector<std::string> tokens) const = 0;
};

/// Throws Error if it is of a type, or has an option, that is not known.
std::unique_ptr<Decoder> read_decoder(JsonPart part, int depth = 0);

}  // namespace headwater
