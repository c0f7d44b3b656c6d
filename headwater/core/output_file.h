// A file that appears complete or not at all: written next to its place, then renamed.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

class OutputFile {
 public:
  /// Opens a nameless or temporary file in the folder of `path`. `path` itself is untouched until
  /// commit(). If it is a link, the file that the link names is written. If it is a pipe or a
  /// device, the bytes are kept in memory and go there at commit().
  /// Throws Error if the folder is missing or not writable, or if `path` is a folder or too long.
  explicit OutputFile(const std::string& path);
  /// Without commit(), discards everything written and leaves any old file at `path` alone.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends. Throws Error if the disk is full.
  void write(std::string_view bytes);
  /// Moves the file into place atomically, with the permissions of the file that was there. Throws
  /// Error if that fails.
  void commit();

 private:
  void open_beside(const std::string& folder);
  void name_it();
  void flush();
  std::string path_, target_, folder_, temporary_, buffer_;
  int file_ = -1;
  int slot_ = -1;  // of the temporary file's name, while it has one
  bool special_ = false;
};

/// Removes the temporary files that all OutputFiles have at this moment. For a signal handler that
/// ends the process: it makes system calls only.
void remove_unfinished_files() noexcept;

}  // namespace headwater
