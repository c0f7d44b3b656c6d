#include "headwater/kernel/cuda/compiler.h"

#include <algorithm>
#include <mutex>

#include "headwater/core/fail.h"
#include "headwater/kernel/cuda/library.h"
#include "headwater/kernel/cuda/sources.h"

namespace headwater::kernel::cuda {
namespace {

using Code = int;  // nvrtcResult

std::mutex paths_mutex;
std::vector<std::string> more_paths;

std::vector<std::string> names() {
  const std::lock_guard lock(paths_mutex);
  std::vector<std::string> all = more_paths;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"})
    all.emplace_back(name);
  return all;
}

struct Nvrtc {
  Library library{"NVRTC, the compiler of CUDA kernels", names()};
  Code (*version)(int*, int*);
  const char* (*error_string)(Code);
  Code (*create)(void**, const char*, const char*, int, const char* const*, const char* const*);
  Code (*destroy)(void**);
  Code (*compile)(void*, int, const char* const*);
  Code (*log_size)(void*, size_t*);
  Code (*log)(void*, char*);
  Code (*cubin_size)(void*, size_t*);
  Code (*cubin)(void*, char*);

  Nvrtc() {
    library.find("nvrtcVersion", version);
    library.find("nvrtcGetErrorString", error_string);
    library.find("nvrtcCreateProgram", create);
    library.find("nvrtcDestroyProgram", destroy);
    library.find("nvrtcCompileProgram", compile);
    library.find("nvrtcGetProgramLogSize", log_size);
    library.find("nvrtcGetProgramLog", log);
    library.find("nvrtcGetCUBINSize", cubin_size);
    library.find("nvrtcGetCUBIN", cubin);
  }

  void check(Code status, const char* doing) const {
    if (status != 0) fail("NVRTC: {} failed: {}; update it", doing, error_string(status));
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc opened;
  return opened;
}

// Destroys the program on every path.
struct Program {
  void* handle = nullptr;
  ~Program() { nvrtc().destroy(&handle); }
};

// The first line of the compiler's messages that calls itself an error.
std::string complaint_of(const Program& program) {
  size_t size = 0;
  if (nvrtc().log_size(program.handle, &size) != 0 || size < 2) return "it gives no reason";
  std::string text(size, '\0');
  if (nvrtc().log(program.handle, text.data()) != 0) return "it gives no reason";
  const size_t error = std::min(text.find("error"), size - 1);
  const size_t begin = text.rfind('\n', error) + 1;  // of npos: 0
  return text.substr(begin, std::min(text.find('\n', error), size - 1) - begin);
}

}  // namespace

void look_for_compiler(const std::vector<std::string>& paths) {
  const std::lock_guard lock(paths_mutex);
  more_paths = paths;
}

std::string compiler_version() {
  int major = 0, minor = 0;
  nvrtc().check(nvrtc().version(&major, &minor), "asking for its version");
  return fmt::format("{}.{}", major, minor);
}

std::string compile(const std::string& source, const std::string& chip,
                    const std::vector<std::string>& defines) {
  std::vector<const char*> contents, included;
  const char* text = nullptr;
  for (const Source& one : sources()) {
    contents.push_back(one.text);
    included.push_back(one.name);
    if (source == one.name) text = one.text;
  }
  if (text == nullptr) fail("CUDA kernels: there is no source '{}'", source);
  Program program;
  const Nvrtc& with = nvrtc();
  with.check(with.create(&program.handle, text, source.c_str(), static_cast<int>(contents.size()),
                         contents.data(), included.data()),
             "reading a kernel");
  std::vector<std::string> options = {"--gpu-architecture=" + chip, "--std=c++17"};
  for (const std::string& define : defines) options.push_back("-D" + define);
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  if (with.compile(program.handle, static_cast<int>(words.size()), words.data()) != 0)
    fail("CUDA kernels: {} ({}) does not compile for {}: {}", source, fmt::join(defines, " "), chip,
         complaint_of(program));
  size_t size = 0;
  with.check(with.cubin_size(program.handle, &size), "making machine code");
  std::string cubin(size, '\0');
  with.check(with.cubin(program.handle, cubin.data()), "making machine code");
  return cubin;
}

}  // namespace headwater::kernel::cuda
