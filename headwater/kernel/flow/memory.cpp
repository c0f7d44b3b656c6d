#include "headwater/kernel/flow/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace headwater::kernel {
namespace {

constexpr size_t line = 64, large_page = size_t{1} << 21;

}  // namespace

void IntArray::Free::operator()(int32_t* memory) const { std::free(memory); }

IntArray::IntArray(size_t count) : size_(count) {
  const size_t unit = count * sizeof(int32_t) >= large_page ? large_page : line;
  const size_t bytes = (count * sizeof(int32_t) + unit - 1) / unit * unit;
  if (bytes == 0) return;
  void* memory = std::aligned_alloc(unit, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (unit == large_page) madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  data_.reset(static_cast<int32_t*>(memory));
}

void IntArray::resize(size_t count) {
  IntArray larger(count);
  std::copy_n(data(), std::min(count, size_), larger.data());
  *this = std::move(larger);
}

}  // namespace headwater::kernel
