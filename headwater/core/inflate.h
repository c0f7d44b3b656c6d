// Deflated bytes, read forward as if they lay open, without ever holding all of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace headwater {

class Inflater {
 public:
  /// `deflated` must outlive this. `size` and `checksum` (CRC-32) are what the file claims of the
  /// bytes inside; `name` stands in errors. Costs nothing until the first read.
  Inflater(std::span<const std::byte> deflated, uint64_t size, uint32_t checksum, std::string name);
  ~Inflater();
  Inflater(Inflater&&) noexcept;
  Inflater& operator=(Inflater&&) noexcept;

  uint64_t size() const;
  /// Fills `out` with the bytes from `offset` on. Reading on from the last place is free of
  /// detours; going back starts again from the last mark before `offset`. Throws Error for damaged
  /// data, for data that ends early or goes on past size(), and, once the last byte was read, for a
  /// wrong checksum.
  void read(uint64_t offset, std::span<std::byte> out);
  /// Remembers the place `offset` when reading passes it, so that going back there is cheap (about
  /// 45 KB each).
  void mark(uint64_t offset);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headwater
