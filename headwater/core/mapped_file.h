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
  /// for every mapped file.
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Tells the system that these bytes will not be needed soon, so that a large file does not fill
/// memory. They must be mapped from a file.
void release(std::span<const std::byte> bytes);

}  // namespace headwater
