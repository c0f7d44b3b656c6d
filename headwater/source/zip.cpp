#include "headwater/source/zip.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

constexpr uint32_t end_signature = 0x06054b50, end64_signature = 0x06064b50;
constexpr uint32_t locator_signature = 0x07064b50, member_signature = 0x02014b50;
constexpr uint32_t local_signature = 0x04034b50;
constexpr uint16_t zip64_field = 1;

// Reads little-endian numbers with bounds checks.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  uint64_t size() const { return bytes_.size(); }
  template <class T>
  T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, piece(offset, sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> piece(uint64_t offset, uint64_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset)
      fail(
          "{}: its zip directory points past the end of the file, expected it inside; copy it "
          "again",
          file_);
    return bytes_.subspan(offset, count);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
};

struct Directory {
  uint64_t offset = 0, size = 0, members = 0;
};

// Finds the record at the end of the file; a comment of up to 64 KB may follow it.
Directory find_directory(const Fields& fields, const std::string& file) {
  constexpr uint64_t record = 22;
  uint64_t end = fields.size();
  const uint64_t lowest = fields.size() > record + 0xffff ? fields.size() - record - 0xffff : 0;
  for (uint64_t at = fields.size() < record ? 0 : fields.size() - record; fields.size() >= record;
       --at) {
    if (fields.at<uint32_t>(at) == end_signature &&
        fields.at<uint16_t>(at + 20) == fields.size() - at - record) {
      end = at;
      break;
    }
    if (at == lowest) break;
  }
  if (end == fields.size())
    fail("{}: has no zip directory at its end, expected one; it may be truncated: copy it again",
         file);
  Directory directory{fields.at<uint32_t>(end + 16), fields.at<uint32_t>(end + 12),
                      fields.at<uint16_t>(end + 10)};
  if (fields.at<uint16_t>(end + 4) != fields.at<uint16_t>(end + 6))
    fail("{}: is one part of a split zip file, expected a whole one; join the parts", file);
  if (end >= 20 && fields.at<uint32_t>(end - 20) == locator_signature) {
    const uint64_t end64 = fields.at<uint64_t>(end - 12);
    if (fields.at<uint32_t>(end64) != end64_signature)
      fail("{}: its zip64 directory is damaged, expected a record at byte {}; copy it again", file,
           end64);
    directory = {fields.at<uint64_t>(end64 + 48), fields.at<uint64_t>(end64 + 40),
                 fields.at<uint64_t>(end64 + 32)};
  }
  return directory;
}

// Sizes that do not fit into 32 bits are in an extra field: in this order, and only those needed.
void read_zip64(std::span<const std::byte> extra, uint64_t& size, uint64_t& packed, uint64_t& local,
                const std::string& file) {
  const Fields fields(extra, file);
  for (uint64_t at = 0; at + 4 <= extra.size();) {
    const uint16_t kind = fields.at<uint16_t>(at), length = fields.at<uint16_t>(at + 2);
    at += 4;
    if (kind == zip64_field) {
      const Fields inside(fields.piece(at, length), file);
      uint64_t place = 0;
      for (uint64_t* value : {&size, &packed, &local}) {
        if (*value != 0xffffffff) continue;
        *value = inside.at<uint64_t>(place);
        place += 8;
      }
      return;
    }
    at += length;
  }
}

void check_name(const std::string& name, const std::string& file, const char* writer,
                std::set<std::string>& seen) {
  if (name.empty() || name[0] == '/' || name.find('\\') != std::string::npos ||
      ("/" + name + "/").find("/../") != std::string::npos)
    fail("{}: has a member named '{}', expected a plain name; save it again with {}", file, name,
         writer);
  if (!seen.insert(name).second)
    fail("{}: has two members named '{}', expected each name once; save it again with {}", file,
         name, writer);
}

void check_overlaps(std::vector<ZipMember> members, const std::string& file, const char* writer) {
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return a.bytes.data() < b.bytes.data(); });
  const ZipMember* before = nullptr;  // the one that extends furthest
  for (const ZipMember& member : members) {
    if (member.bytes.empty()) continue;
    if (before && before->bytes.data() + before->bytes.size() > member.bytes.data())
      fail("{}: members '{}' and '{}' overlap, expected them apart; save it again with {}", file,
           before->name, member.name, writer);
    before = &member;
  }
}

}  // namespace

std::vector<ZipMember> read_zip(std::span<const std::byte> bytes, const std::string& file,
                                const char* writer) {
  const Fields fields(bytes, file);
  const Directory directory = find_directory(fields, file);
  std::vector<ZipMember> members;
  std::set<std::string> names;
  uint64_t at = directory.offset;
  fields.piece(directory.offset, directory.size);
  for (uint64_t k = 0; k < directory.members; ++k) {
    if (fields.at<uint32_t>(at) != member_signature)
      fail("{}: its zip directory is damaged at byte {}, expected member {} of {}; copy it again",
           file, at, k, directory.members);
    const uint16_t flags = fields.at<uint16_t>(at + 8), method = fields.at<uint16_t>(at + 10);
    const uint16_t name_size = fields.at<uint16_t>(at + 28),
                   extra_size = fields.at<uint16_t>(at + 30);
    uint64_t packed = fields.at<uint32_t>(at + 20), size = fields.at<uint32_t>(at + 24);
    uint64_t local = fields.at<uint32_t>(at + 42);
    const auto name = fields.piece(at + 46, name_size);
    read_zip64(fields.piece(at + 46 + name_size, extra_size), size, packed, local, file);

    ZipMember member;
    member.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    check_name(member.name, file, writer, names);
    if (flags & 1)
      fail("{}: member '{}' is encrypted, expected a plain zip file; save it without a password",
           file, member.name);
    if (method != 0 && method != 8)
      fail(
          "{}: member '{}' is compressed by method {}, expected stored or deflated; save it with "
          "{}",
          file, member.name, method, writer);
    if (fields.at<uint32_t>(local) != local_signature)
      fail(
          "{}: member '{}' is not at byte {} where the directory says, expected it there; copy the "
          "file again",
          file, member.name, local);
    const uint64_t data =
        local + 30 + fields.at<uint16_t>(local + 26) + fields.at<uint16_t>(local + 28);
    member.bytes = fields.piece(data, packed);
    member.deflated = method == 8;
    member.size = size;
    member.checksum = fields.at<uint32_t>(at + 16);
    if (!member.deflated && packed != size)
      fail("{}: member '{}' is stored in {} bytes, expected {}; copy the file again", file,
           member.name, packed, size);
    // Deflate expands one byte to at most 1032.
    if (member.deflated && size / 1033 > packed)
      fail(
          "{}: member '{}' claims {} bytes out of {}, expected at most 1032 for each; the file is "
          "damaged or a zip bomb",
          file, member.name, size, packed);
    members.push_back(std::move(member));
    at += 46 + uint64_t{name_size} + extra_size + fields.at<uint16_t>(at + 32);
  }
  check_overlaps(members, file, writer);
  return members;
}

}  // namespace headwater
