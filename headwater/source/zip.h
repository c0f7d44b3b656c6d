// The directory of a zip file: where each member is. Stored and deflated members, zip64.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headwater {

struct ZipMember {
  std::string name;
  std::span<const std::byte> bytes;  // as in the file
  bool deflated = false;
  uint64_t size = 0;  // of the decompressed bytes
  uint32_t checksum = 0;
};

/// All members in the order of the directory. `writer` is what errors advise for saving the file
/// again. Throws Error naming `file` for a truncated or damaged directory, encrypted members, other
/// compression methods, overlapping members, names that occur twice or lead out of the folder, and
/// members that claim more than deflate can hold.
std::vector<ZipMember> read_zip(std::span<const std::byte> bytes, const std::string& file,
                                const char* writer = "numpy.savez");

}  // namespace headwater
