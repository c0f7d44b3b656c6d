// NVRTC, NVIDIA's compiler of CUDA C++ as a library, opened at run time. PyTorch brings it.
#pragma once
#include <string>
#include <vector>

namespace headwater::kernel::cuda {

/// Where to look for NVRTC before the system's places: paths of libraries. Call it before the first
/// kernel is compiled; it has no effect later.
void look_for_compiler(const std::vector<std::string>& paths);

/// "13.2". Throws Error if there is no NVRTC.
std::string compiler_version();

/// Compiles one of the sources of this folder (sources.h) for a chip, such as "sm_90a". `defines`
/// are macros: "ROWS=1". Returns machine code. Throws Error with the compiler's first complaint.
std::string compile(const std::string& source, const std::string& chip,
                    const std::vector<std::string>& defines);

}  // namespace headwater::kernel::cuda
