// A file that is whole or not there: written beside its place and renamed at the end.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

class OutputFile {
 public:
  /// Opens a nameless or temporary file in the folder of `path`; `path` itself is untouched until
  /// commit(). Throws Error if the folder is missing or not writable, or `path` is a folder.
  explicit OutputFile(const std::string& path);
  /// Without commit() everything written is gone, and the old file at `path` is still there.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends. Throws Error when the disk is full.
  void write(std::string_view bytes);
  /// Puts the file in its place, atomically. Throws Error if that fails.
  void commit();

 private:
  void flush();
  std::string path_, temporary_, buffer_;
  int file_ = -1;
  bool named_ = false;  // the temporary file has a name that must go
};

}  // namespace headwater
