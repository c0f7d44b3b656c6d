#include "headwater/core/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "headwater/core/fail.h"

namespace headwater {

OutputFile::OutputFile(const std::string& path) : path_(path) {
  const std::filesystem::path place(path);
  std::string folder = place.parent_path().string();
  if (folder.empty()) folder = ".";
  struct stat about;
  if (stat(folder.c_str(), &about) != 0)
    fail("{}: the folder '{}' does not exist, expected a folder to write to; create it first", path,
         folder);
  if (stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode))
    fail("{}: is a folder, expected the name of a file; add a file name", path);
  temporary_ = fmt::format("{}/.{}.{}.part", folder, place.filename().string(), getpid());
  // A nameless file disappears however the process ends; not every file system has them.
  file_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ >= 0) {
      named_ = true;
    }
  }
  if (file_ < 0)
    fail("{}: cannot be written ({}), expected a writable folder; choose another place", path,
         std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
  if (named_) unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= (1 << 20)) flush();
}

void OutputFile::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t count = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      fail(
          "{}: could not be written ({}), expected room on the disk; free some or choose another "
          "place",
          path_, std::strerror(errno));
    done += static_cast<size_t>(count);
  }
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  bool placed = fsync(file_) == 0;
  if (placed && !named_) {
    unlink(temporary_.c_str());
    const std::string open_file = fmt::format("/proc/self/fd/{}", file_);
    placed =
        linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    named_ = placed;
  }
  placed = placed && rename(temporary_.c_str(), path_.c_str()) == 0;
  if (!placed)
    fail("{}: could not be moved into place ({}), expected a writable place; choose another", path_,
         std::strerror(errno));
  named_ = false;
}

}  // namespace headwater
