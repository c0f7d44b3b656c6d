#include "headwater/model/model_input.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/utf8.h"

namespace headwater {

std::vector<std::string> read_texts(const std::string& path) {
  const MappedFile file(path);
  return split_texts({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
                     path);
}

std::vector<std::string> split_texts(std::string_view bytes, const std::string& path) {
  std::vector<std::string> texts;
  // Some editors start a file with a byte order mark.
  for (size_t at = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    std::string_view line = bytes.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t number = texts.size() + 1;
    if (line.find_first_not_of(" \t") == std::string_view::npos)
      fail("{}: line {} is empty, expected a text on each line; remove it", path, number);
    if (valid_utf8(line) != line || line.find('\0') != std::string_view::npos)
      fail("{}: line {} is not UTF-8, expected text; check that the file is text", path, number);
    texts.emplace_back(line);
    at = end + 1;
  }
  return texts;
}

}  // namespace headwater
