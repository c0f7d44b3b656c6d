// A zip file of stored members, written from front to back.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headwater/output/sink.h"

namespace headwater {

/// The same members give the same bytes: no clock, no name of a machine. Sizes and checksums stand
/// before the data, so that readers from front to back work too. Members and files above 4 GiB take
/// zip64's form.
class ZipWriter {
 public:
  /// Numbers from `wide_from` on are written in zip64's form; smaller values than the default are
  /// for tests.
  explicit ZipWriter(Sink sink, uint64_t wide_from = 0xFFFFFFFF);

  /// Writes a member. `content` is called twice, for the checksum and for the bytes, and must give
  /// the same.
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
