#include "headwater/kernel/cpu/cpu.h"

#include <algorithm>
#include <string>

#include "headwater/kernel/cpu/targets.h"

namespace headwater::kernel {
namespace {

// Highway says "AVX3"; our users type "avx3".
std::string name_of(int64_t target) {
  std::string name = hwy::TargetName(target);
  std::ranges::transform(name, name.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

}  // namespace

std::vector<Kernels> cpu_kernels() {
  std::vector<Kernels> list;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets())
    list.push_back({name_of(target), map_kernels(target), network_kernels(target),
                    backward_kernels(target), flow_kernels(target)});
  return list;
}

}  // namespace headwater::kernel
