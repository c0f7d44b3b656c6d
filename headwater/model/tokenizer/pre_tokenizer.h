// "pre_tokenizer" of a tokenizer.json: where the text is cut before the model sees it.
#pragma once
#include <memory>

#include "headwater/model/tokenizer/json_part.h"
#include "headwater/model/tokenizer/splits.h"

namespace headwater {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Cuts every split that is no token. Safe from several threads.
  virtual void apply(Splits& splits) const = 0;
};

/// Throws Error if it is of a type, or has an option, that is not known.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(JsonPart part, int depth = 0);

/// When Metaspace puts its character before the text.
enum class PrependScheme { always, first, never };

/// "prepend_scheme", and "add_prefix_space" of older files. Throws Error.
PrependScheme read_prepend_scheme(JsonPart& part);

}  // namespace headwater
