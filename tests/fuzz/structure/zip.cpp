#include "tests/fuzz/structure/zip.h"

#include <zlib.h>

#include <cstring>

#include "tests/fuzz/structure/bytes.h"

namespace headwater::fuzz {
namespace {

struct ZipMember {
  std::string name, bytes;
  bool deflated = false;
};

constexpr size_t most_inflated = 1 << 20;

std::vector<ZipMember> members_of(std::string_view file) {
  std::vector<ZipMember> out;
  // By its local headers, which need no directory; sizes are there unless the file was streamed.
  for (size_t at = 0;
       (at = file.find("PK\3\4", at)) != std::string_view::npos && file.size() - at >= 30;) {
    const auto word = [&](size_t offset, int size) { return number_at(file, at + offset, size); };
    const uint64_t name = word(26, 2), extra = word(28, 2), packed = word(18, 4);
    const size_t begin = at + 30 + name + extra;
    at += 4;
    if (begin > file.size() || packed > file.size() - begin) continue;
    ZipMember member{std::string(file.substr(at + 26, name)),
                     std::string(file.substr(begin, packed)), word(4, 2) == 8};
    if (member.deflated) member.bytes = inflated(member.bytes, -MAX_WBITS, most_inflated);
    out.push_back(std::move(member));
    at = begin + packed;
  }
  return out;
}

std::string joined(const std::vector<ZipMember>& members, bool aligned) {
  std::string out, directory;
  for (const ZipMember& member : members) {
    const std::string packed = member.deflated ? deflated(member.bytes, -MAX_WBITS) : member.bytes;
    // torch aligns the bytes of a member to 64 by a field that means nothing.
    const size_t begin = out.size() + 30 + member.name.size();
    const size_t filler = aligned && begin % 64 != 0 ? (128 - 4 - begin % 64) % 64 + 4 : 0;
    std::string extra =
        filler > 0 ? "FB" + number(filler - 4, 2) + std::string(filler - 4, 'Z') : "";
    const std::string facts = number(member.deflated ? 8 : 0, 2) + number(0, 4) +
                              number(crc32(0, reinterpret_cast<const Bytef*>(member.bytes.data()),
                                           static_cast<uInt>(member.bytes.size())),
                                     4) +
                              number(packed.size(), 4) + number(member.bytes.size(), 4) +
                              number(member.name.size(), 2);
    directory += "PK\1\2" + number(20, 2) + number(20, 2) + number(0, 2) + facts + number(0, 2) +
                 number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) + number(out.size(), 4) +
                 member.name;
    out += "PK\3\4" + number(20, 2) + number(0, 2) + facts + number(extra.size(), 2) + member.name +
           extra + packed;
  }
  const size_t begin = out.size();
  out += directory;
  out += "PK\5\6" + number(0, 4) + number(members.size(), 2) + number(members.size(), 2) +
         number(directory.size(), 4) + number(begin, 4) + number(0, 2);
  return out;
}

}  // namespace

Change zip_change(Change change) {
  return [change](std::string_view file, Chance& chance) {
    std::vector<ZipMember> members = members_of(file);
    if (members.empty()) return std::string(file);
    change_list(members, chance, [&](ZipMember& member) {
      switch (chance.below(8)) {
        case 0:
          member.name = changed_bytes(member.name, chance);
          break;
        case 1:
          member.name = chance.pick(members).name;
          break;
        case 2:
          member.deflated = !member.deflated;
          break;
        default:
          member.bytes = change(member.bytes, chance);
      }
    });
    return joined(members, file.find("PK\3\4") == 0 && file.find("data.pkl") < 200);
  };
}

}  // namespace headwater::fuzz
