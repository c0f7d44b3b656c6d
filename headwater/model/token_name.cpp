#include "headwater/model/token_name.h"

#include "headwater/core/error.h"

namespace headwater {

std::string token_name(const std::optional<Tokenizer>& tokenizer, int id) {
  if (!tokenizer) return std::to_string(id);
  try {
    return tokenizer->token_of(id);
  } catch (const Error&) {
    return std::to_string(id);
  }
}

}  // namespace headwater
