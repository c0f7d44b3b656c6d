// Which two tokens merge into one, and how early.
#pragma once
#include <cstdint>
#include <vector>

namespace headwater {

struct Merge {
  uint32_t rank;
  int id;  // of the merged token
};

/// A flat table from pairs of ids to merges.
class MergeTable {
 public:
  /// Makes room for `count` merges.
  void reserve(size_t count) {
    size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    slots_.assign(slots, {});
    mask_ = slots - 1;
  }
  /// Replaces the merge of a pair that is there already. Do not add more than were reserved.
  void add(int left, int right, Merge merge) {
    Slot& slot = slots_[find_slot(left, right)];
    slot = {left, right, merge};
  }
  /// Prefetches the memory that add() of this pair will need.
  void prefetch(int left, int right) const {
    __builtin_prefetch(&slots_[hash_of(left, right) & mask_], 1);
  }
  const Merge* find(int left, int right) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[find_slot(left, right)];
    return slot.left < 0 ? nullptr : &slot.merge;
  }

 private:
  struct Slot {
    int left = -1, right = -1;
    Merge merge{};
  };
  static uint64_t hash_of(int left, int right) {
    const uint64_t key =
        static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
    const uint64_t hash = key * 0x9E3779B97F4A7C15;
    return hash ^ hash >> 32;
  }
  size_t find_slot(int left, int right) const {
    size_t at = hash_of(left, right) & mask_;
    while (slots_[at].left >= 0 && (slots_[at].left != left || slots_[at].right != right))
      at = (at + 1) & mask_;
    return at;
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t mask_ = 0;
};

}  // namespace headwater
