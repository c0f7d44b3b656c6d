// A file as bytes in memory. The system reads each page on first access.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace headwater {

class MappedFile {
 public:
  /// Throws Error if the file is missing, unreadable, a folder, empty, or a pointer of Git LFS.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  /// Valid as long as this object. If another process shortens the file, access is a bus error, as
  /// for every mapped file; mapped_file_at() tells a handler which file it was.
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  void unmap() noexcept;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  int slot_ = -1;  // of its name, for mapped_file_at()
};

/// The file that is mapped at this address, as one line; nullptr if none is. For a handler of
/// SIGBUS: it only reads memory.
const char* mapped_file_at(const void* address) noexcept;

/// Tells the system that these bytes will not be needed soon, so that a large file does not fill
/// memory. They must be mapped from a file.
void release(std::span<const std::byte> bytes);

}  // namespace headwater
