// "pre_tokenizer" of a tokenizer.json: where to split the text before the model sees it.
#pragma once
#include <memory>

#include "headwater/model/tokenizer/json_part.h"
#include "headwater/model/tokenizer/splits.h"

namespace headwater {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Splits everything that is not yet a token. Thread-safe.
  virtual void apply(Splits& splits) const = 0;
};

/// Throws Error for an unknown type or option.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(JsonPart part, int depth = 0);

/// When Metaspace puts its character before the text.
enum class PrependScheme { always, first, never };

/// "prepend_scheme", and "add_prefix_space" of older files. Throws Error.
PrependScheme read_prepend_scheme(JsonPart& part);

}  // namespace headwater
