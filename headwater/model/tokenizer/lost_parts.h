// Which parts of a tokenizer.json do not count, because its folder's class makes its own.
#pragma once
#include <string>
#include <vector>

#include "headwater/model/tokenizer/json_part.h"
#include "headwater/model/tokenizer/normalizer.h"
#include "headwater/model/tokenizer/post_processor.h"
#include "headwater/model/tokenizer/pre_tokenizer.h"

namespace headwater {

/// The parts in use; null: none.
struct UsedParts {
  const Normalizer* normalizer = nullptr;
  const PreTokenizer* pre_tokenizer = nullptr;
  const PostProcessor* post_processor = nullptr;
};

/// "normalizer" and so on, where those of the file would do something else to a text with much that
/// tokenizers differ in: capitals, accents, digits, spaces, other scripts. `file` is the whole.
std::vector<std::string> lost_parts(JsonPart& file, const UsedParts& used);

}  // namespace headwater
