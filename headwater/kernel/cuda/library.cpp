#include "headwater/kernel/cuda/library.h"

#include <dlfcn.h>

#include "headwater/core/fail.h"

namespace headwater::kernel::cuda {

Library::Library(std::string what, const std::vector<std::string>& names) : what_(std::move(what)) {
  std::string why;
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = name;
      return;
    }
    if (const char* found = dlerror(); found != nullptr && why.empty()) why = found;
  }
  fail("{}: could not be opened ({}), expected one of {}; install it", what_, why,
       fmt::join(names, ", "));
}

void* Library::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr)
    fail("{}: {} has no function {}, expected a newer one; update it", what_, path_, name);
  return found;
}

}  // namespace headwater::kernel::cuda
