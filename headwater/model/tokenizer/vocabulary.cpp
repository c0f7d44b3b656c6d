#include "headwater/model/tokenizer/vocabulary.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace headwater {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

uint64_t hash_of(std::string_view bytes) {
  constexpr uint64_t odd = 0x9E3779B97F4A7C15, other = 0xD6E8FEB86659FD93;
  uint64_t hash = bytes.size() * odd;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = mix(hash ^ word, other);
  }
  uint64_t word = 0;
  for (size_t i = 0; i < left; ++i)
    word |= static_cast<uint64_t>(static_cast<unsigned char>(at[i])) << 8 * i;
  return mix(hash ^ word, odd);
}

std::string_view Vocabulary::token(size_t entry) const {
  return std::string_view(bytes_).substr(begins_[entry], begins_[entry + 1] - begins_[entry]);
}

size_t Vocabulary::slot_of(std::string_view wanted, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].id >= 0 &&
         (slots_[at].hash != hash || slots_[at].length != wanted.size() ||
          std::memcmp(bytes_.data() + slots_[at].begin, wanted.data(), wanted.size()) != 0))
    at = (at + 1) & mask;
  return at;
}

void Vocabulary::grow() {
  const std::vector<Slot> old = std::move(slots_);
  slots_.assign(std::max<size_t>(16, 2 * old.size()), {});
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id < 0) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].id >= 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

void Vocabulary::reserve(size_t tokens, size_t bytes) {
  bytes_.reserve(bytes);
  begins_.reserve(tokens + 1);
  ids_.reserve(tokens);
  while (slots_.size() < 2 * tokens) grow();
}

void Vocabulary::add(std::string_view wanted, int id) {
  if (slots_.size() < 2 * (ids_.size() + 1)) grow();
  const auto hash = static_cast<uint32_t>(hash_of(wanted));
  Slot& slot = slots_[slot_of(wanted, hash)];
  if (slot.id >= 0) {
    // An empty token starts where the next one does.
    const auto entry =
        std::lower_bound(begins_.begin(), begins_.end(), slot.begin) - begins_.begin();
    const auto place =
        static_cast<size_t>(entry) +
        (begins_[static_cast<size_t>(entry) + 1] == slot.begin && !wanted.empty() ? 1 : 0);
    ids_[place] = slot.id = id;
    return;
  }
  slot = {hash, static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(wanted.size()), id};
  bytes_ += wanted;
  begins_.push_back(bytes_.size());
  ids_.push_back(id);
}

void Vocabulary::finish() {
  by_id_.resize(ids_.size());
  std::iota(by_id_.begin(), by_id_.end(), 0u);
  const auto less = [this](uint32_t a, uint32_t b) { return ids_[a] < ids_[b]; };
  if (!std::is_sorted(by_id_.begin(), by_id_.end(), less))
    std::stable_sort(by_id_.begin(), by_id_.end(), less);
  dense_ = true;
  for (size_t i = 0; i < by_id_.size() && dense_; ++i)
    dense_ = ids_[by_id_[i]] == static_cast<int>(i);
}

std::optional<int> Vocabulary::id_of(std::string_view wanted) const {
  if (slots_.empty()) return {};
  const Slot& slot = slots_[slot_of(wanted, static_cast<uint32_t>(hash_of(wanted)))];
  if (slot.id < 0) return {};
  return slot.id;
}

void Vocabulary::ids_of(std::span<const std::string_view> tokens, std::span<int> ids) const {
  if (slots_.empty()) return std::fill(ids.begin(), ids.end(), -1);
  const size_t mask = slots_.size() - 1;
  std::vector<uint32_t> hashes(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    hashes[i] = static_cast<uint32_t>(hash_of(tokens[i]));
    __builtin_prefetch(&slots_[hashes[i] & mask]);
  }
  for (const uint32_t hash : hashes) __builtin_prefetch(bytes_.data() + slots_[hash & mask].begin);
  for (size_t i = 0; i < tokens.size(); ++i) ids[i] = slots_[slot_of(tokens[i], hashes[i])].id;
}

std::optional<std::string_view> Vocabulary::token_of(int id) const {
  if (dense_) {
    if (id < 0 || static_cast<size_t>(id) >= by_id_.size()) return {};
    return token(by_id_[static_cast<size_t>(id)]);
  }
  const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                      [this](uint32_t a, int wanted) { return ids_[a] < wanted; });
  if (found == by_id_.end() || ids_[*found] != id) return {};
  return token(*found);
}

}  // namespace headwater
