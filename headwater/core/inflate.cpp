#include "headwater/core/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// A point at which reading can resume: zlib's window and the checksum so far.
struct Place {
  Place() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  Place(const Place& other) : offset(other.offset), taken(other.taken), checksum(other.checksum) {
    if (inflateCopy(&stream, const_cast<z_stream*>(&other.stream)) != Z_OK) throw std::bad_alloc();
  }
  Place& operator=(const Place&) = delete;
  ~Place() { inflateEnd(&stream); }

  z_stream stream{};
  uint64_t offset = 0;  // decompressed bytes so far
  uint64_t taken = 0;   // deflated bytes consumed
  uint32_t checksum = 0;
  bool ended = false;
};

}  // namespace

struct Inflater::State {
  std::span<const std::byte> deflated;
  uint64_t size;
  uint32_t checksum;
  std::string name;
  std::unique_ptr<Place> place;
  std::map<uint64_t, std::unique_ptr<Place>> kept;
  std::set<uint64_t> wanted;

  void give(std::byte* out, uint64_t count);
  void go(uint64_t offset);
};

Inflater::Inflater(std::span<const std::byte> deflated, uint64_t size, uint32_t checksum,
                   std::string name)
    : state_(new State{deflated, size, checksum, std::move(name), nullptr, {}, {}}) {}
Inflater::~Inflater() = default;
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;

uint64_t Inflater::size() const { return state_->size; }

void Inflater::mark(uint64_t offset) { state_->wanted.insert(offset); }

void Inflater::State::give(std::byte* out, uint64_t count) {
  while (count > 0) {
    Place& at = *place;
    const uint64_t in = std::min<uint64_t>(deflated.size() - at.taken, 1 << 20);
    const uint64_t room = std::min<uint64_t>(count, 1 << 20);
    at.stream.next_in =
        const_cast<Bytef*>(reinterpret_cast<const Bytef*>(deflated.data() + at.taken));
    at.stream.avail_in = static_cast<uInt>(in);
    at.stream.next_out = reinterpret_cast<Bytef*>(out);
    at.stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&at.stream, Z_NO_FLUSH);
    const uint64_t made = room - at.stream.avail_out;
    at.taken += in - at.stream.avail_in;
    at.checksum = static_cast<uint32_t>(
        crc32(at.checksum, reinterpret_cast<const Bytef*>(out), static_cast<uInt>(made)));
    at.offset += made;
    out += made;
    count -= made;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      fail(
          "{}: damaged at byte {} of its compressed data, expected a deflate stream; save it again",
          name, at.taken);
    if (count > 0 && made == 0 && (status != Z_OK || in == 0))
      fail("{}: its compressed data ends after {} bytes, expected {}; save it again", name,
           at.offset, size);
  }
}

void Inflater::State::go(uint64_t offset) {
  if (!place || offset < place->offset) {
    auto after = kept.upper_bound(offset);
    if (after == kept.begin())
      place = std::make_unique<Place>();
    else
      place = std::make_unique<Place>(*std::prev(after)->second);
  }
  std::vector<std::byte> dropped;
  while (place->offset < offset) {
    auto next = wanted.upper_bound(place->offset);
    const uint64_t stop = next != wanted.end() ? std::min(*next, offset) : offset;
    dropped.resize(std::min<uint64_t>(stop - place->offset, 1 << 18));
    give(dropped.data(), dropped.size());
    if (wanted.contains(place->offset) && !kept.contains(place->offset))
      kept.emplace(place->offset, std::make_unique<Place>(*place));
  }
}

void Inflater::read(uint64_t offset, std::span<std::byte> out) {
  State& state = *state_;
  if (offset > state.size || out.size() > state.size - offset)
    fail("{}: has {} bytes, expected at least {}; save it again", state.name, state.size,
         offset + out.size());
  state.go(offset);
  if (state.wanted.contains(offset) && !state.kept.contains(offset))
    state.kept.emplace(offset, std::make_unique<Place>(*state.place));
  state.give(out.data(), out.size());
  Place& at = *state.place;
  if (at.offset != state.size || at.ended) return;
  at.ended = true;
  std::byte more;
  at.stream.next_in =
      const_cast<Bytef*>(reinterpret_cast<const Bytef*>(state.deflated.data() + at.taken));
  at.stream.avail_in =
      static_cast<uInt>(std::min<uint64_t>(state.deflated.size() - at.taken, 1 << 20));
  at.stream.next_out = reinterpret_cast<Bytef*>(&more);
  at.stream.avail_out = 1;
  inflate(&at.stream, Z_NO_FLUSH);
  if (at.stream.avail_out == 0)
    fail("{}: its compressed data continues past {} bytes, expected it to end there; save it again",
         state.name, state.size);
  if (at.checksum != state.checksum)
    fail("{}: its checksum is {:08x}, expected {:08x}: the file is damaged; save it again",
         state.name, at.checksum, state.checksum);
}

}  // namespace headwater
