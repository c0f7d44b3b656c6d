// Reads deflated bytes forward, without ever holding all of them in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace headwater {

class Inflater {
 public:
  /// `deflated` must outlive this. `size` and `checksum` (CRC-32) are the file's claims about the
  /// decompressed bytes; `name` appears in errors. Costs nothing until the first read.
  Inflater(std::span<const std::byte> deflated, uint64_t size, uint32_t checksum, std::string name);
  ~Inflater();
  Inflater(Inflater&&) noexcept;
  Inflater& operator=(Inflater&&) noexcept;

  uint64_t size() const;
  /// Fills `out` with the bytes from `offset` on. Reading forward is cheap; going back restarts
  /// from the last mark before `offset`. Throws Error if the data is damaged, ends early or
  /// continues past size(), and, after the last byte, if the checksum is wrong.
  void read(uint64_t offset, std::span<std::byte> out);
  /// Saves the state when reading passes `offset`, so that going back there is cheap. A mark takes
  /// about 45 KB.
  void mark(uint64_t offset);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headwater
