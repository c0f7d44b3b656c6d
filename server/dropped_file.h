// A file that was dropped on the page, where the readers of files can open it.
#pragma once
#include <string>

#include "server/question.h"

namespace headwater::server {

/// `sentence` with `name` wherever it has `path`: the page shows nobody's folders.
std::string renamed(std::string sentence, const std::string& path, const std::string& name);

/// The bytes in a folder of their own among the temporary files, under a name that nobody chose;
/// gone when this object is. Only the ending comes from the upload.
class DroppedFile {
 public:
  /// Throws Error if there is no room.
  explicit DroppedFile(const Upload& upload);
  ~DroppedFile();
  DroppedFile(const DroppedFile&) = delete;
  DroppedFile& operator=(const DroppedFile&) = delete;

  const std::string& path() const { return path_; }
  /// A sentence about the file, with the name that its owner knows in place of its path.
  std::string in_its_words(std::string sentence) const;

 private:
  std::string folder_, path_, name_;
};

}  // namespace headwater::server
