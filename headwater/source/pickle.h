// Reads the pickles that torch.save writes, without Python: an interpreter of exactly the opcodes
// in them. It calls nothing. What Python would call is recorded by name, for the caller to judge.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// One value. Texts point into the file.
struct PickleValue {
  enum class Kind {
    none,
    boolean,
    integer,
    real,        // `number` is not set: nothing needs it
    text,        // also whole numbers beyond 64 bits, as bytes
    global,      // "module name"
    tuple,       // of Pickle::items
    list,        // of items
    dict,        // of items: key, value, key, value ...
    call,        // of a global: items are the arguments
    persistent,  // a storage: items are those of its tuple
  };
  Kind kind = Kind::none;
  int64_t number = 0;
  std::string_view text;  // of a call: what would be called
  size_t place = 0;       // in Pickle::pools
};

/// Memory is at most a constant times the bytes of the pickle.
struct Pickle {
  PickleValue root;
  std::vector<std::vector<PickleValue>> pools;
  size_t end = 0;  // the first byte after it

  const std::vector<PickleValue>& items(const PickleValue& value) const {
    return pools[value.place];
  }
};

/// Interprets the pickle at the start of `bytes`. Throws Error naming `file` and the byte for any
/// opcode that torch's writer does not emit, for a call of anything that does not rebuild a tensor,
/// and for a pickle that ends early.
Pickle read_pickle(std::span<const std::byte> bytes, const std::string& file);

}  // namespace headwater
