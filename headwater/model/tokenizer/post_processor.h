// "post_processor" of a tokenizer.json: special tokens around the text, type ids, trimmed offsets.
#pragma once
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/encoding.h"
#include "headwater/model/tokenizer/json_part.h"

namespace headwater {

/// The texts that offsets refer to: the text and its pair.
using Texts = std::array<std::string_view, 2>;

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  /// How many tokens it adds, for a text alone or with a pair.
  virtual size_t added(bool pair) const = 0;
  /// Changes the parts of the result: at first the text, and its pair if there is one. Adds tokens
  /// only if `special`. Thread-safe.
  virtual void apply(std::vector<Encoding>& parts, const Texts& texts, bool special) const = 0;
};

/// Throws Error for an unknown type or option.
std::unique_ptr<PostProcessor> read_post_processor(JsonPart part, int depth = 0);

/// TemplateProcessing.
std::unique_ptr<PostProcessor> read_template(JsonPart& part);

}  // namespace headwater
