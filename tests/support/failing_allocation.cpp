#include "tests/support/failing_allocation.h"

#include <cstdlib>
#include <limits>
#include <new>

namespace headwater {
namespace {

constexpr long never = std::numeric_limits<long>::max();
thread_local long successes_left = never;

}  // namespace

FailingAllocation::FailingAllocation(long successes) { successes_left = successes; }
FailingAllocation::~FailingAllocation() { successes_left = never; }

}  // namespace headwater

// Every form but the aligned ones, because sanitizers bring their own and look whether what one
// form gave goes back through the same.
void* operator new(std::size_t size) {
  using headwater::successes_left;
  if (successes_left != headwater::never && successes_left-- <= 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& nothrow) noexcept {
  return operator new(size, nothrow);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
