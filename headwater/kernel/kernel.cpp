// The list of kernels and the choice among them.
#include "headwater/kernel/kernel.h"

#include <algorithm>
#include <atomic>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/kernel/cpu/cpu.h"
#include "headwater/kernel/reference/reference.h"

namespace headwater::kernel {
namespace {

// Null until the first look-up. A static of a function would cost each look-up a second load, of
// its guard.
constinit std::atomic<const Kernels*> chosen = nullptr;

}  // namespace

const std::vector<Kernels>& all_kernels() {
  static const std::vector<Kernels> all = [] {
    std::vector<Kernels> list = cpu_kernels();
    list.push_back({"reference", reference_maps(), reference_network(), reference_backward(),
                    reference_flow()});
    return list;
  }();
  return all;
}

const Kernels& reference() { return all_kernels().back(); }

const Kernels& in_use() {
  if (const Kernels* kernels = chosen.load(std::memory_order_acquire)) return *kernels;
  use("");
  return all_kernels().front();
}

std::vector<std::string> available() {
  std::vector<std::string> names;
  for (const Kernels& one : all_kernels()) names.push_back(one.name);
  return names;
}

std::string_view name() { return in_use().name; }

void use(std::string_view name) {
  const std::vector<Kernels>& all = all_kernels();
  const auto found = name.empty() ? all.begin() : std::ranges::find(all, name, &Kernels::name);
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (const Kernels& one : all) names.emplace_back(one.name);
    fail_usage("no kernel '{}' on this machine{}", name, suggestion(name, names));
  }
  chosen.store(&*found, std::memory_order_release);
}

}  // namespace headwater::kernel
