#include "headwater/core/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// Which files are mapped where, for a signal handler: no lock, no memory to allocate. If more files
// are mapped than there are slots, the rest are not recorded.
struct Slot {
  std::atomic<bool> taken = false;
  std::atomic<const std::byte*> begin = nullptr;
  size_t size = 0;
  char path[PATH_MAX] = {};
};
constinit std::array<Slot, 64> mapped;

int remember(const std::string& path, const std::byte* begin, size_t size) {
  const std::string line = one_line(path);
  for (size_t k = 0; k < mapped.size(); ++k) {
    if (mapped[k].taken.exchange(true)) continue;
    mapped[k].size = size;
    const size_t length = std::min(line.size(), sizeof mapped[k].path - 1);
    std::memcpy(mapped[k].path, line.data(), length);
    mapped[k].path[length] = 0;
    mapped[k].begin = begin;
    return static_cast<int>(k);
  }
  return -1;
}

// What Git leaves in place of a large file that was not fetched.
bool is_lfs_pointer(std::span<const std::byte> bytes) {
  constexpr std::string_view start = "version https://git-lfs.github.com/spec/";
  constexpr size_t longest = 1024;
  return bytes.size() >= start.size() && bytes.size() <= longest &&
         std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    fail("{}: cannot be read ({}), expected a file; check the name", path, std::strerror(errno));
  struct stat about;
  const bool known = fstat(file, &about) == 0;
  const char* wrong = nullptr;
  if (!known || !S_ISREG(about.st_mode))
    wrong = known && S_ISDIR(about.st_mode) ? "is a folder" : "is not a plain file";
  else if (about.st_size == 0)
    wrong = "is empty";
  void* memory = MAP_FAILED;
  if (!wrong) {
    size_ = static_cast<size_t>(about.st_size);
    memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  if (wrong) fail("{}: {}, expected a plain file that is not empty; check the name", path, wrong);
  if (memory == MAP_FAILED)
    fail("{}: cannot be mapped ({}), expected a file on a disk; copy it to one", path,
         std::strerror(errno));
  data_ = static_cast<const std::byte*>(memory);
  slot_ = remember(path, data_, size_);  // before its bytes are looked at
  if (is_lfs_pointer(bytes())) {
    unmap();
    fail(
        "{}: is a Git LFS pointer of {} bytes, expected the file that it stands for; run 'git lfs "
        "pull' in its folder",
        path, about.st_size);
  }
}

MappedFile::~MappedFile() { unmap(); }

void MappedFile::unmap() noexcept {
  if (slot_ >= 0) {
    mapped[static_cast<size_t>(slot_)].begin = nullptr;
    mapped[static_cast<size_t>(slot_)].taken = false;
  }
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      slot_(std::exchange(other.slot_, -1)) {}

const char* mapped_file_at(const void* address) noexcept {
  const auto* at = static_cast<const std::byte*>(address);
  for (const Slot& slot : mapped) {
    const std::byte* begin = slot.begin;
    if (begin && at >= begin && at < begin + slot.size) return slot.path;
  }
  return nullptr;
}

void release(std::span<const std::byte> bytes) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace headwater
