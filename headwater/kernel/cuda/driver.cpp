#include "headwater/kernel/cuda/driver.h"

#include <map>
#include <mutex>

#include "headwater/core/fail.h"
#include "headwater/kernel/cuda/library.h"

namespace headwater::kernel::cuda {
namespace {

using Result = int;  // CUresult

// The numbers are those of NVIDIA's header cuda.h, which is not needed to build.
constexpr int multiprocessor_count = 16, capability_major = 75, capability_minor = 76,
              shared_bytes_optin = 97, function_shared_bytes = 8;

struct Driver {
  Library library{"NVIDIA's driver", {"libcuda.so.1"}};
  Result (*init)(unsigned);
  Result (*error_string)(Result, const char**);
  Result (*version)(int*);
  Result (*device_get)(int*, int);
  Result (*device_name)(char*, int, int);
  Result (*device_attribute)(int*, int, int);
  Result (*retain)(void**, int);
  Result (*push)(void*);
  Result (*pop)(void**);
  Result (*module_load)(void**, const void*);
  Result (*module_function)(void**, void*, const char*);
  Result (*function_attribute)(void*, int, int);
  Result (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
  Result (*encode_tiles)(TensorMap*, int, unsigned, const void*, const unsigned long long*,
                         const unsigned long long*, const unsigned*, const unsigned*, int, int, int,
                         int);

  Driver() {
    library.find("cuInit", init);
    library.find("cuGetErrorString", error_string);
    library.find("cuDriverGetVersion", version);
    library.find("cuDeviceGet", device_get);
    library.find("cuDeviceGetName", device_name);
    library.find("cuDeviceGetAttribute", device_attribute);
    library.find("cuDevicePrimaryCtxRetain", retain);
    library.find("cuCtxPushCurrent_v2", push);
    library.find("cuCtxPopCurrent_v2", pop);
    library.find("cuModuleLoadData", module_load);
    library.find("cuModuleGetFunction", module_function);
    library.find("cuFuncSetAttribute", function_attribute);
    library.find("cuLaunchKernel", launch);
    library.find("cuTensorMapEncodeTiled", encode_tiles);
    check(init(0), "starting it");
  }

  void check(Result result, const char* doing) const {
    if (result == 0) return;
    const char* text = nullptr;
    error_string(result, &text);
    fail("NVIDIA's driver: {} failed: {} (error {}); see `nvidia-smi`", doing,
         text != nullptr ? text : "it gives no reason", result);
  }
};

const Driver& driver() {
  static const Driver opened;  // a constructor that throws is tried again by the next caller
  return opened;
}

// A device and its primary context, which is kept until the process ends.
struct Opened {
  Device facts;
  void* context = nullptr;
};

const Opened& opened(int number) {
  static std::mutex mutex;
  static std::map<int, Opened> all;
  const std::lock_guard lock(mutex);
  if (const auto found = all.find(number); found != all.end()) return found->second;
  const Driver& with = driver();
  int handle = 0;
  with.check(with.device_get(&handle, number), "finding the device");
  Opened one;
  char name[256] = {};
  with.check(with.device_name(name, sizeof name - 1, handle), "naming the device");
  one.facts.name = name;
  for (const auto& [attribute, value] : {std::pair{capability_major, &one.facts.major},
                                         {capability_minor, &one.facts.minor},
                                         {multiprocessor_count, &one.facts.multiprocessors},
                                         {shared_bytes_optin, &one.facts.shared_bytes}})
    with.check(with.device_attribute(value, attribute, handle), "describing the device");
  with.check(with.retain(&one.context, handle), "opening the device");
  return all.emplace(number, one).first->second;
}

// Makes a device's context current on this thread.
class Current {
 public:
  explicit Current(int number) {
    driver().check(driver().push(opened(number).context), "choosing the device");
  }
  ~Current() {
    void* before = nullptr;
    driver().pop(&before);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

}  // namespace

std::string driver_version() {
  int number = 0;
  driver().check(driver().version(&number), "asking for its version");
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

const Device& device(int number) { return opened(number).facts; }

Function load(int number, const std::string& cubin, const char* name, unsigned shared_bytes) {
  const Driver& with = driver();
  const Current current(number);
  void *module = nullptr, *function = nullptr;
  with.check(with.module_load(&module, cubin.data()), "loading a kernel");
  with.check(with.module_function(&function, module, name), "finding a kernel");
  with.check(
      with.function_attribute(function, function_shared_bytes, static_cast<int>(shared_bytes)),
      "giving a kernel its shared memory");
  return {function, number};
}

void launch(const Function& function, const Launch& how, void** arguments) {
  const Driver& with = driver();
  const Current current(function.device);
  const auto [x, y, z] = how.blocks;
  with.check(with.launch(function.handle, x, y, z, how.threads, 1, 1, how.shared_bytes, how.stream,
                         arguments, nullptr),
             "starting a kernel");
}

TensorMap tiles_of(const Tensor16& tensor, unsigned rows) {
  constexpr int float16 = 6, bfloat16 = 9, not_interleaved = 0, swizzle_128_bytes = 3,
                promote_256_bytes = 3, zeros_outside = 0;
  const std::array<unsigned long long, 3> sizes = {tensor.columns, tensor.rows, tensor.heads};
  const std::array<unsigned long long, 2> strides = {tensor.row_stride, tensor.head_stride};
  const std::array<unsigned, 3> box = {64, rows, 1}, steps = {1, 1, 1};
  TensorMap map;
  const Driver& with = driver();
  with.check(
      with.encode_tiles(&map, tensor.is_bfloat ? bfloat16 : float16, 3, tensor.data, sizes.data(),
                        strides.data(), box.data(), steps.data(), not_interleaved,
                        swizzle_128_bytes, promote_256_bytes, zeros_outside),
      "describing a matrix");
  return map;
}

}  // namespace headwater::kernel::cuda
