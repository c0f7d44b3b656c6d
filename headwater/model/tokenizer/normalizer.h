// "normalizer" of a tokenizer.json: what the text becomes before it is cut.
#pragma once
#include <memory>

#include "headwater/model/tokenizer/aligned_text.h"
#include "headwater/model/tokenizer/json_part.h"

namespace headwater {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Safe from several threads.
  virtual void apply(AlignedText& text) const = 0;
};

/// Throws Error if it is of a type, or has an option, that is not known.
std::unique_ptr<Normalizer> read_normalizer(JsonPart part, int depth = 0);

class Pattern;
/// {"String": "..."} or {"Regex": "..."} under "pattern".
Pattern read_pattern(JsonPart& part);

}  // namespace headwater
