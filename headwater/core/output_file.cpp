#include "headwater/core/output_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

constexpr const char* open_files = "/proc/self/fd";

// The names of temporary files, where a signal handler finds them: no lock, no memory to allocate.
// If more files are open than there are slots, the rest are not cleaned up after a signal.
struct PartName {
  std::atomic<int> state = 0;  // 0 free, 1 being written, 2 names a file
  char path[PATH_MAX] = {};
};
constinit std::array<PartName, 16> part_names;

int remember_part(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (size_t k = 0; k < part_names.size(); ++k) {
    int free = 0;
    if (!part_names[k].state.compare_exchange_strong(free, 1)) continue;
    std::memcpy(part_names[k].path, path.c_str(), path.size() + 1);
    part_names[k].state = 2;
    return static_cast<int>(k);
  }
  return -1;
}

void forget_part(int slot) {
  if (slot >= 0) part_names[static_cast<size_t>(slot)].state = 0;
}

// A name that no other process has: process numbers repeat across containers that share a folder.
// It does not contain the name of the file, which may be as long as a name can be.
std::string fresh_name(const std::string& folder) {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<uint64_t>(getpid());
  return fmt::format("{}/.headwater-{:016x}.part", folder, number);
}

// Where `path` leads if it is a link, even to a file that does not exist yet.
std::string behind_links(std::string path) {
  for (int links = 0; links < 40; ++links) {
    char found[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), found, sizeof found);
    if (size < 0) return path;
    const std::filesystem::path to(std::string(found, static_cast<size_t>(size)));
    path = (std::filesystem::path(path).parent_path() / to).string();
  }
  fail("{}: its symbolic links form a loop, expected a file; choose another place", path);
}

[[noreturn]] void fail_write(const std::string& path) {
  fail(
      "{}: could not be written ({}), expected room on the disk; free some or choose another place",
      path, std::strerror(errno));
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  struct stat about;
  const bool there = stat(path.c_str(), &about) == 0;
  if (!there && errno == ENAMETOOLONG)
    fail("{}: the name is too long, expected at most {} bytes in a name; choose a shorter one",
         path, NAME_MAX);
  if (there && S_ISDIR(about.st_mode))
    fail("{}: is a folder, expected the name of a file; add a file name", path);
  special_ = there && !S_ISREG(about.st_mode);
  if (special_) return;

  target_ = behind_links(path);
  folder_ = std::filesystem::path(target_).parent_path().string();
  if (folder_.empty()) folder_ = ".";
  struct stat holder;
  if (stat(folder_.c_str(), &holder) != 0)
    fail("{}: the folder '{}' does not exist, expected a folder to write to; create it first", path,
         folder_);
  open_beside(folder_);
  if (there) fchmod(file_, about.st_mode & 07777);
}

void OutputFile::open_beside(const std::string& folder) {
  // A nameless file disappears however the process ends. Not every file system has them, and
  // without /proc they cannot be given a name later.
  const bool nameable = access(open_files, F_OK) == 0;
  if (nameable) file_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (!nameable || (file_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))) {
    temporary_ = fresh_name(folder);
    slot_ = remember_part(temporary_);  // first, or a signal between the two would leave it
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0) forget_part(slot_);
  }
  if (file_ < 0)
    fail("{}: cannot be written ({}), expected a writable folder; choose another place", path_,
         std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  forget_part(slot_);
}

void OutputFile::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (!special_ && buffer_.size() >= (1 << 20)) flush();
}

void OutputFile::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t count = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_write(path_);
    done += static_cast<size_t>(count);
  }
  buffer_.clear();
}

void OutputFile::name_it() {
  const std::string open_file = fmt::format("{}/{}", open_files, file_);
  std::string name = fresh_name(folder_);
  slot_ = remember_part(name);
  if (linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
    temporary_ = std::move(name);  // a copy could lack memory, and the file would stay
}

void OutputFile::commit() {
  if (special_) {
    file_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail_write(path_);
    flush();
    return;
  }
  flush();
  bool placed = fsync(file_) == 0;
  if (placed && temporary_.empty()) name_it();
  placed = placed && !temporary_.empty() && rename(temporary_.c_str(), target_.c_str()) == 0;
  if (!placed)
    fail("{}: could not be moved into place ({}), expected a writable place; choose another", path_,
         std::strerror(errno));
  temporary_.clear();
}

void remove_unfinished_files() noexcept {
  for (const PartName& name : part_names)
    if (name.state == 2) unlink(name.path);
}

}  // namespace headwater
