#include "headwater/model/tokenizer/encoding.h"

namespace headwater {

void Encoding::add(int id, std::string token, ByteSpan offset, int type, int sequence) {
  ids.push_back(id);
  tokens.push_back(std::move(token));
  offsets.push_back(offset);
  types.push_back(type);
  sequences.push_back(sequence);
}

void Encoding::truncate(size_t count) {
  if (count >= size()) return;
  ids.resize(count);
  tokens.resize(count);
  offsets.resize(count);
  types.resize(count);
  sequences.resize(count);
}

}  // namespace headwater
