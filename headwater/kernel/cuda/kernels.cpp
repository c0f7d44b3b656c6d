#include "headwater/kernel/cuda/kernels.h"

#include <map>
#include <mutex>

#include "headwater/core/fail.h"
#include "headwater/kernel/cuda/cache.h"
#include "headwater/kernel/cuda/compiler.h"
#include "headwater/kernel/cuda/sources.h"

namespace headwater::kernel::cuda {
namespace {

// All that machine code depends on.
std::string key_of(const Variant& variant, const std::string& chip) {
  std::string key =
      fmt::format("{} {} {} nvrtc {} driver {}\n", variant.source, chip,
                  fmt::join(variant.defines, " "), compiler_version(), driver_version());
  for (const Source& one : sources()) key += one.text;
  return key;
}

}  // namespace

std::string chip_of(const Device& device) {
  const char* own = device.major == 9 && device.minor == 0 ? "a" : "";
  return fmt::format("sm_{}{}{}", device.major, device.minor, own);
}

const Function& kernel_for(int number, const Variant& variant) {
  static std::mutex mutex;
  static std::map<std::string, Function> loaded;
  const std::string name =
      fmt::format("{} {} {}", number, variant.source, fmt::join(variant.defines, " "));
  const std::lock_guard lock(mutex);
  if (const auto found = loaded.find(name); found != loaded.end()) return found->second;
  const Device& on = device(number);
  if (variant.shared_bytes > static_cast<unsigned>(on.shared_bytes))
    fail("{}: has {} bytes of shared memory, expected {} for this kernel; headwater uses PyTorch",
         on.name, on.shared_bytes, variant.shared_bytes);
  const std::string chip = chip_of(on);
  const std::string code =
      cached(key_of(variant, chip), [&] { return compile(variant.source, chip, variant.defines); });
  const std::string function = variant.source.substr(0, variant.source.find('.'));
  return loaded.emplace(name, load(number, code, function.c_str(), variant.shared_bytes))
      .first->second;
}

Status status(int number) {
  try {
    const Device& found = device(number);
    if (found.major < 8)
      return {false, fmt::format("{}: has compute capability {}.{}, expected 8.0 or newer",
                                 found.name, found.major, found.minor)};
    return {true, fmt::format("{}, {}, driver {}, NVRTC {}", found.name, chip_of(found),
                              driver_version(), compiler_version())};
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

}  // namespace headwater::kernel::cuda
