// A shared library that is opened at run time, so that nothing is needed to build headwater.
#pragma once
#include <string>
#include <vector>

namespace headwater::kernel::cuda {

class Library {
 public:
  /// Opens the first of `names` that is there: paths, or names that the system's linker knows.
  /// Throws Error, which calls it `what`, if none is. It stays open until the process ends.
  Library(std::string what, const std::vector<std::string>& names);

  /// Sets `function` to the library's function `name`. Throws Error if there is none.
  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;
  std::string what_, path_;
  void* handle_ = nullptr;
};

}  // namespace headwater::kernel::cuda
