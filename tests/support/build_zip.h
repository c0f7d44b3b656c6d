// Zip files made by hand. What is not set is what a good file has.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/bytes.h"

namespace headwater::test {

struct ZipEntry {
  std::string name;
  Bytes bytes;
  bool deflated = false;
  bool zip64 = false;  // sizes and place in an extra field

  // One thing to get wrong.
  std::optional<uint16_t> method = {}, flags = {};
  std::optional<uint32_t> checksum = {};
  std::optional<uint64_t> size = {};      // claimed of the bytes inside
  std::optional<uint64_t> packed = {};    // claimed of the bytes in the file
  std::optional<uint64_t> local_at = {};  // where the directory says that it is
};

struct ZipEnd {
  std::string comment = {};
  bool zip64 = false;
  std::optional<uint64_t> members = {}, offset = {};  // claimed
};

Bytes zip(const std::vector<ZipEntry>& entries, const ZipEnd& end = {});

/// `bytes` as a raw deflate stream.
Bytes deflate_bytes(const Bytes& bytes);

}  // namespace headwater::test
