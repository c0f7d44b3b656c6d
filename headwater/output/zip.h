// A zip file of stored members, written from front to back.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headwater/output/sink.h"

namespace headwater {

/// The same members always give the same bytes: there is no date and no machine name in them. Sizes
/// and checksums come before the data, so streaming readers work too. Members and files above 4 GiB
/// use zip64.
class ZipWriter {
 public:
  /// Numbers from `wide_from` on use zip64; smaller values than the default are for tests.
  explicit ZipWriter(Sink sink, uint64_t wide_from = 0xFFFFFFFF);

  /// Writes a member. Calls `content` twice, for the checksum and for the bytes; it must give the
  /// same both times.
  void add(const std::string& name, const std::function<void(const Sink&)>& content);

  /// Writes the directory. Nothing may be added afterwards.
  void finish();

 private:
  struct Member {
    std::string name;
    uint32_t checksum;
    uint64_t size, offset;
  };
  void put(std::string_view bytes);

  Sink sink_;
  uint64_t wide_from_;
  uint64_t written_ = 0;
  std::vector<Member> members_;
};

}  // namespace headwater
