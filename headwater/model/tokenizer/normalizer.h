// "normalizer" of a tokenizer.json: changes the text before it is split.
#pragma once
#include <memory>

#include "headwater/model/tokenizer/aligned_text.h"
#include "headwater/model/tokenizer/json_part.h"

namespace headwater {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Thread-safe.
  virtual void apply(AlignedText& text) const = 0;
};

/// Throws Error for an unknown type or option.
std::unique_ptr<Normalizer> read_normalizer(JsonPart part, int depth = 0);

class Pattern;
/// {"String": "..."} or {"Regex": "..."} under "pattern".
Pattern read_pattern(JsonPart& part);

}  // namespace headwater
