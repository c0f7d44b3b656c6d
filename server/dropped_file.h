// A file that was dropped on the page, where the readers of files can open it.
#pragma once
#include <string>

#include "server/question.h"

namespace headwater::server {

/// `sentence` with `name` in place of `path`: the page shows no folders of this machine.
std::string renamed(std::string sentence, const std::string& path, const std::string& name);

/// The bytes in a folder of their own among the temporary files, under a generated name, deleted
/// with this object. Only the ending comes from the upload.
class DroppedFile {
 public:
  /// Throws Error if there is no room.
  explicit DroppedFile(const Upload& upload);
  ~DroppedFile();
  DroppedFile(const DroppedFile&) = delete;
  DroppedFile& operator=(const DroppedFile&) = delete;

  const std::string& path() const { return path_; }
  /// A sentence about the file, with its original name in place of its path.
  std::string in_its_words(std::string sentence) const;

 private:
  std::string folder_, path_, name_;
};

}  // namespace headwater::server
