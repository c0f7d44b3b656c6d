// A file as bytes in memory, read by the system page by page when they are touched.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace headwater {

class MappedFile {
 public:
  /// Throws Error if the file is missing, unreadable, a folder, or empty.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  /// Valid as long as this object. A file that another process shortens meanwhile is a bus error:
  /// the system's rule for every mapped file.
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Tells the system that these bytes of a mapped file will not be needed again soon, so that a
/// large file does not fill the memory. Bytes not mapped from a file must not be given.
void release(std::span<const std::byte> bytes);

}  // namespace headwater
