#include "headwater/output/zip.h"

#include <zlib.h>

namespace headwater {
namespace {

constexpr uint16_t first_of_january_1980 = 0x21;
constexpr uint16_t utf8_names = 0x800;
constexpr uint32_t in_zip64 = 0xFFFFFFFF;

// Appends little-endian fields.
class Record {
 public:
  Record& two(uint64_t value) { return put(value, 2); }
  Record& four(uint64_t value) { return put(value, 4); }
  Record& eight(uint64_t value) { return put(value, 8); }
  Record& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& put(uint64_t value, int count) {
    for (int k = 0; k < count; ++k) bytes_ += static_cast<char>(value >> (8 * k) & 255);
    return *this;
  }
  std::string bytes_;
};

}  // namespace

ZipWriter::ZipWriter(Sink sink, uint64_t wide_from)
    : sink_(std::move(sink)), wide_from_(wide_from) {}

void ZipWriter::put(std::string_view bytes) {
  sink_(bytes);
  written_ += bytes.size();
}

void ZipWriter::add(const std::string& name, const std::function<void(const Sink&)>& content) {
  Member member{name, 0, 0, written_};
  content([&](std::string_view bytes) {
    member.checksum = static_cast<uint32_t>(
        crc32_z(member.checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    member.size += bytes.size();
  });
  const bool wide = member.size >= wide_from_;
  Record header;
  header.four(0x04034B50)
      .two(wide ? 45 : 20)
      .two(utf8_names)
      .two(0)
      .two(0)
      .two(first_of_january_1980);
  header.four(member.checksum)
      .four(wide ? in_zip64 : member.size)
      .four(wide ? in_zip64 : member.size);
  header.two(name.size()).two(wide ? 20 : 0).text(name);
  if (wide) header.two(1).two(16).eight(member.size).eight(member.size);
  put(header.bytes());
  content([&](std::string_view bytes) { put(bytes); });
  members_.push_back(std::move(member));
}

void ZipWriter::finish() {
  const uint64_t begin = written_;
  for (const Member& member : members_) {
    const bool wide_size = member.size >= wide_from_, wide_offset = member.offset >= wide_from_;
    Record extra;
    if (wide_size) extra.eight(member.size).eight(member.size);
    if (wide_offset) extra.eight(member.offset);
    const bool wide = !extra.bytes().empty();
    Record entry;
    entry.four(0x02014B50).two(wide ? 45 : 20).two(wide ? 45 : 20).two(utf8_names).two(0).two(0);
    entry.two(first_of_january_1980).four(member.checksum);
    entry.four(wide_size ? in_zip64 : member.size).four(wide_size ? in_zip64 : member.size);
    entry.two(member.name.size())
        .two(wide ? 4 + extra.bytes().size() : 0)
        .two(0)
        .two(0)
        .two(0)
        .four(0);
    entry.four(wide_offset ? in_zip64 : member.offset).text(member.name);
    if (wide) entry.two(1).two(extra.bytes().size()).text(extra.bytes());
    put(entry.bytes());
  }
  const uint64_t size = written_ - begin, count = members_.size();
  const bool wide = begin >= wide_from_ || size >= wide_from_ || count >= 0xFFFF;
  Record end;
  if (wide) {
    end.four(0x06064B50).eight(44).two(45).two(45).four(0).four(0).eight(count).eight(count);
    end.eight(size).eight(begin);
    end.four(0x07064B50).four(0).eight(written_).four(1);
  }
  end.four(0x06054B50).two(0).two(0).two(wide ? 0xFFFF : count).two(wide ? 0xFFFF : count);
  end.four(wide ? in_zip64 : size).four(wide ? in_zip64 : begin).two(0);
  put(end.bytes());
}

}  // namespace headwater
