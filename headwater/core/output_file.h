// A file that appears complete or not at all: written next to its place, then renamed.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

class OutputFile {
 public:
  /// Opens a nameless or temporary file in the folder of `path`. `path` itself is untouched until
  /// commit(). Throws Error if the folder is missing or not writable, or if `path` is a folder.
  explicit OutputFile(const std::string& path);
  /// Without commit(), discards everything written and leaves any old file at `path` alone.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends. Throws Error if the disk is full.
  void write(std::string_view bytes);
  /// Moves the file into place atomically. Throws Error if that fails.
  void commit();

 private:
  void flush();
  std::string path_, temporary_, buffer_;
  int file_ = -1;
  bool named_ = false;  // the temporary file has a name to remove
};

}  // namespace headwater
