// What a file is, by its first bytes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headwater {

struct FileKind {
  std::string_view name;    // "a PyTorch pickle"
  std::string_view ending;  // of the format if headwater reads it as attention, else ""
  std::string_view advice;  // what to do about it
};

/// None for bytes of an unknown kind, which includes most texts. `bytes` is the file, or its start.
std::optional<FileKind> kind_of(std::string_view bytes);

/// The same for a file. None if it cannot be read.
std::optional<FileKind> kind_of_file(const std::string& path);

}  // namespace headwater
