#include "tests/support/build_zip.h"

#include <zlib.h>

#include <stdexcept>

namespace headwater::test {
namespace {

constexpr uint32_t far = 0xffffffff;

struct Written {
  const ZipEntry* entry;
  Bytes packed;
  uint32_t checksum;
  uint64_t at;
};

uint16_t method_of(const ZipEntry& entry) {
  return entry.method.value_or(static_cast<uint16_t>(entry.deflated ? 8 : 0));
}

// What a local header and a directory entry have in common, from the flags to the extra's length.
void append_common(Bytes& bytes, const Written& one, uint16_t extra) {
  const ZipEntry& entry = *one.entry;
  append(bytes, entry.flags.value_or(0));
  append(bytes, method_of(entry));
  append(bytes, uint32_t{0});
  append(bytes, one.checksum);
  const uint64_t packed = entry.packed.value_or(one.packed.size());
  const uint64_t size = entry.size.value_or(entry.bytes.size());
  append(bytes, entry.zip64 ? far : static_cast<uint32_t>(packed));
  append(bytes, entry.zip64 ? far : static_cast<uint32_t>(size));
  append(bytes, static_cast<uint16_t>(entry.name.size()));
  append(bytes, extra);
}

void append_zip64(Bytes& bytes, const Written& one, bool with_place) {
  append(bytes, uint16_t{1});
  append(bytes, static_cast<uint16_t>(with_place ? 24 : 16));
  append(bytes, one.entry->size.value_or(one.entry->bytes.size()));
  append(bytes, one.entry->packed.value_or(one.packed.size()));
  if (with_place) append(bytes, one.entry->local_at.value_or(one.at));
}

void append_end(Bytes& bytes, const ZipEnd& end, uint64_t count, uint64_t start, uint64_t size) {
  const uint64_t members = end.members.value_or(count), offset = end.offset.value_or(start);
  if (end.zip64) {
    const uint64_t here = bytes.size();
    append(bytes, uint32_t{0x06064b50});
    append(bytes, uint64_t{44});
    append(bytes, uint32_t{45 << 16 | 45});
    append(bytes, uint64_t{0});
    for (uint64_t value : {members, members, size, offset}) append(bytes, value);
    append(bytes, uint32_t{0x07064b50});
    append(bytes, uint32_t{0});
    append(bytes, here);
    append(bytes, uint32_t{1});
  }
  append(bytes, uint32_t{0x06054b50});
  append(bytes, uint32_t{0});
  for (int twice = 0; twice < 2; ++twice)
    append(bytes, static_cast<uint16_t>(end.zip64 ? 0xffff : members));
  append(bytes, end.zip64 ? far : static_cast<uint32_t>(size));
  append(bytes, end.zip64 ? far : static_cast<uint32_t>(offset));
  append(bytes, static_cast<uint16_t>(end.comment.size()));
  bytes += end.comment;
}

}  // namespace

Bytes deflate_bytes(const Bytes& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("no deflate");
  Bytes out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Bytes zip(const std::vector<ZipEntry>& entries, const ZipEnd& end) {
  Bytes bytes;
  std::vector<Written> all;
  for (const ZipEntry& entry : entries) {
    Written one{&entry, entry.deflated ? deflate_bytes(entry.bytes) : entry.bytes, 0, bytes.size()};
    const auto* inside = reinterpret_cast<const Bytef*>(entry.bytes.data());
    one.checksum = entry.checksum.value_or(
        static_cast<uint32_t>(crc32_z(crc32(0, nullptr, 0), inside, entry.bytes.size())));
    append(bytes, uint32_t{0x04034b50});
    append(bytes, static_cast<uint16_t>(entry.zip64 ? 45 : 20));
    append_common(bytes, one, entry.zip64 ? 20 : 0);
    bytes += entry.name;
    if (entry.zip64) append_zip64(bytes, one, false);
    bytes += one.packed;
    all.push_back(std::move(one));
  }
  const uint64_t start = bytes.size();
  for (const Written& one : all) {
    const bool zip64 = one.entry->zip64;
    append(bytes, uint32_t{0x02014b50});
    append(bytes, uint32_t{45 << 16 | 45});
    append_common(bytes, one, zip64 ? 28 : 0);
    append(bytes, uint16_t{0});
    append(bytes, uint32_t{0});
    append(bytes, uint32_t{0});
    append(bytes, zip64 ? far : static_cast<uint32_t>(one.entry->local_at.value_or(one.at)));
    bytes += one.entry->name;
    if (zip64) append_zip64(bytes, one, true);
  }
  append_end(bytes, end, all.size(), start, bytes.size() - start);
  return bytes;
}

}  // namespace headwater::test
