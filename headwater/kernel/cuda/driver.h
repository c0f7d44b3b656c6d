// NVIDIA's driver, opened at run time: devices, loaded kernels and launches. It works in the
// primary context of a device, which is PyTorch's, so pointers and streams of PyTorch are valid
// here.
#pragma once
#include <array>
#include <string>

namespace headwater::kernel::cuda {

/// What a kernel that copies tiles needs to know about a matrix (the driver's CUtensorMap).
struct alignas(64) TensorMap {
  std::array<unsigned long long, 16> words = {};
};

struct Device {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  int shared_bytes = 0;  // that a block may ask for
};

/// One kernel that is loaded on one device.
struct Function {
  void* handle = nullptr;
  int device = 0;
};

struct Launch {
  std::array<unsigned, 3> blocks = {1, 1, 1};
  unsigned threads = 1;
  unsigned shared_bytes = 0;
  void* stream = nullptr;
};

/// How many blocks of `each` cover `count`.
inline unsigned blocks_for(int count, int each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

/// A view [heads, rows, columns] of 16-bit numbers; the strides are in bytes.
struct Tensor16 {
  const void* data = nullptr;
  bool is_bfloat = true;
  unsigned long long columns = 0, rows = 0, heads = 0, row_stride = 0, head_stride = 0;
};

/// All of these throw Error if there is no driver or no such device, or if the driver refuses.
std::string driver_version();
const Device& device(int number);
Function load(int device, const std::string& cubin, const char* name, unsigned shared_bytes);
/// `arguments` points to the kernel's arguments, in order. Returns before the kernel ends.
void launch(const Function& function, const Launch& how, void** arguments);
/// For tiles of `rows` x 64 numbers, as the matrix units of Hopper read them.
TensorMap tiles_of(const Tensor16& tensor, unsigned rows);

}  // namespace headwater::kernel::cuda
