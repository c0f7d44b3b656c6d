#include "tests/fuzz/structure/chance.h"

#include <algorithm>
#include <cstring>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace headwater::fuzz {

std::string changed_bytes(std::string_view bytes, Chance& chance) {
  std::string room(bytes);
  room.resize(bytes.size() + 16 + chance.below(64));
  room.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(room.data()), bytes.size(), room.size()));
  return room;
}

uint64_t edge_number(Chance& chance) {
  const uint64_t power = uint64_t{1} << chance.below(64);
  switch (chance.below(4)) {
    case 0:
      return chance.below(20);
    case 1:
      return power - 1;
    case 2:
      return ~power + chance.below(3);
    default:
      return power + chance.below(3);
  }
}

size_t mutate(uint8_t* data, size_t size, size_t most, unsigned seed, const Change& change) {
  Chance chance(seed);
  if (!chance.one_in(6)) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    std::string made = change(input, chance);
    for (size_t more = chance.below(3); more > 0; --more) made = change(made, chance);
    if (made != input && !made.empty()) {
      const size_t taken = std::min(made.size(), most);
      std::memcpy(data, made.data(), taken);
      return taken;
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}

}  // namespace headwater::fuzz
