// Tokens and their ids.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwater {

/// Holds all tokens in one block of memory, with a flat hash table for lookups.
class Vocabulary {
 public:
  /// Makes room for `tokens` tokens with `bytes` bytes in all.
  void reserve(size_t tokens, size_t bytes);

  /// A token that is there already gets this id instead.
  void add(std::string_view token, int id);

  /// Call this after the last add(): token_of() works from then on.
  void finish();

  std::optional<int> id_of(std::string_view token) const;
  /// The same for many tokens, -1 if there is none. Faster, because it prefetches their memory.
  void ids_of(std::span<const std::string_view> tokens, std::span<int> ids) const;
  /// The token with this id; the first if there are several. Valid as long as the vocabulary.
  std::optional<std::string_view> token_of(int id) const;

  /// Tokens in the order in which they were added, with their ids.
  std::pair<std::string_view, int> entry(size_t k) const { return {token(k), ids_[k]}; }

  size_t size() const { return ids_.size(); }

 private:
  /// All that a lookup needs except the token's bytes, so that it waits for memory only twice.
  struct Slot {
    uint32_t hash = 0, begin = 0, length = 0;
    int id = -1;  // -1: the slot is free
  };
  std::string_view token(size_t entry) const;
  size_t slot_of(std::string_view token, uint32_t hash) const;
  void grow();

  std::string bytes_;
  std::vector<size_t> begins_{0};  // of each token in bytes_, and the end of the last
  std::vector<int> ids_;
  std::vector<Slot> slots_;      // a power of two, at most half full
  std::vector<uint32_t> by_id_;  // entries in the order of their ids
  bool dense_ = false;           // entry by_id_[i] has the id i
};

/// A well-mixed hash, the same on every machine.
uint64_t hash_of(std::string_view bytes);

}  // namespace headwater
