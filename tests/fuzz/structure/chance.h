// What the mutators share. Each takes an input apart as its format says, changes one part, and puts
// it together again with the lengths, offsets and checksums that fit: readers refuse the rest at
// their first lines.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace headwater::fuzz {

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  /// In [0, n); 0 if n is 0.
  size_t below(size_t n) { return n == 0 ? 0 : engine_() % n; }
  bool one_in(size_t n) { return below(n) == 0; }
  template <class List>
  auto& pick(List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::minstd_rand engine_;
};

/// From an input to another; the same bytes if it is not in the format.
using Change = std::function<std::string(std::string_view input, Chance& chance)>;

/// libFuzzer's own change of bytes. Only inside a mutator.
std::string changed_bytes(std::string_view bytes, Chance& chance);

/// A number at the edge of some type.
uint64_t edge_number(Chance& chance);

/// Changes an item, or doubles, removes or swaps items. `change` is for one of them.
template <class Item, class ChangeItem>
void change_list(std::vector<Item>& items, Chance& chance, ChangeItem change) {
  if (items.empty()) return;
  const size_t at = chance.below(items.size()), other = chance.below(items.size());
  switch (chance.below(8)) {
    case 0:
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(other), Item(items[at]));
      break;
    case 1:
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 2:
      std::swap(items[at], items[other]);
      break;
    default:
      change(items[at]);
  }
}

/// What LLVMFuzzerCustomMutator is to do: mostly `change`, sometimes bytes of any kind.
size_t mutate(uint8_t* data, size_t size, size_t most, unsigned seed, const Change& change);

}  // namespace headwater::fuzz
