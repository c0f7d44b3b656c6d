// The matrix product alone, ours against OpenBLAS, in GF/s, with what the machine could do at most.
//
//   bench/gemm [--threads 1,2] [--sizes 64,128,...] [--kernel avx2]
//
// OpenBLAS picks its kernels when it loads, and picks badly on processors that it does not know, so
// each of its core types is tried in a process of its own and the best one counts. Ours and theirs
// take turns within that process and the best time of each counts: other work on the machine then
// hits both alike. Products are compared before anything is timed.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/core/parallel.h"
#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hw = headwater;

namespace {

double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double time_of(const std::function<void()>& work) {
  const double begin = seconds();
  work();
  return seconds() - begin;
}

struct OpenBlas {
  using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                        const float* a, int lda, const float* b, int ldb, float beta, float* c,
                        int ldc);
  Gemm gemm = nullptr;
  void (*set_threads)(int) = nullptr;
  char* (*core_name)() = nullptr;

  OpenBlas() {
    void* library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == nullptr) return;
    gemm = reinterpret_cast<Gemm>(dlsym(library, "cblas_sgemm"));
    set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    core_name = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"));
  }
  void multiply(const hw::Matrix& a, const hw::Matrix& b, hw::Matrix& out) const {
    const int n = a.rows();
    gemm(101, 111, 111, n, n, n, 1, a.data(), n, b.data(), n, 0, out.data(), n);
  }
};

hw::Matrix stochastic(int n, unsigned seed, bool causal) {
  hw::Matrix out(n, n);
  std::mt19937 bits(seed);
  std::exponential_distribution<float> weight(1);
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    const int last = causal ? i + 1 : n;
    for (int j = 0; j < last; ++j) sum += out(i, j) = weight(bits);
    for (int j = 0; j < last; ++j) out(i, j) = static_cast<float>(out(i, j) / sum);
  }
  return out;
}

double distance(const hw::Matrix& a, const hw::Matrix& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(double{a.data()[i]} - b.data()[i]));
  return largest;
}

// One process: a core type of OpenBLAS, a number of threads. A line a size for the parent to read.
int measure(int threads, const std::vector<int>& sizes) {
  const OpenBlas blas;
  if (blas.gemm == nullptr) {
    fmt::print(stderr, "gemm: libopenblas.so.0 not found; install libopenblas0-pthread\n");
    return 1;
  }
  blas.set_threads(threads);
  hw::set_threads(threads);
  for (int n : sizes) {
    const hw::Matrix a = stochastic(n, 1, false), b = stochastic(n, 2, false);
    const hw::Matrix low_a = stochastic(n, 3, true), low_b = stochastic(n, 4, true);
    hw::Matrix ours(n, n), theirs(n, n), low(n, n);
    hw::kernel::multiply(a, b, ours);
    blas.multiply(a, b, theirs);
    hw::kernel::multiply(low_a, low_b, low);
    const double off = distance(ours, theirs);
    blas.multiply(low_a, low_b, theirs);
    if (off > 1e-5 || distance(low, theirs) > 1e-5) {
      fmt::print(stderr, "gemm: n = {}: products differ by {}\n", n, off);
      return 1;
    }
    double best[3] = {1e9, 1e9, 1e9};
    const double until = seconds() + 0.4 + 6e-12 * n * n * n;
    for (int round = 0; round < 3 || seconds() < until; ++round) {
      best[0] = std::min(best[0], time_of([&] { hw::kernel::multiply(a, b, ours); }));
      best[1] = std::min(best[1], time_of([&] { blas.multiply(a, b, theirs); }));
      best[2] = std::min(best[2], time_of([&] { hw::kernel::multiply(low_a, low_b, low); }));
    }
    fmt::print("{} {} {} {} {}\n", n, best[0], best[1], best[2], blas.core_name());
  }
  return 0;
}

#if defined(__x86_64__)
// Twelve chains of fused multiply-adds in registers: the most that any product can reach.
__attribute__((target("avx512f"))) float fma_512(int rounds) {
  __m512 sum[12], x = _mm512_set1_ps(1e-9f);
  for (int i = 0; i < 12; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (auto& one : sum) one = _mm512_fmadd_ps(x, one, x);
  for (int i = 1; i < 12; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_cvtss_f32(sum[0]);
}

__attribute__((target("avx2,fma"))) float fma_256(int rounds) {
  __m256 sum[12], x = _mm256_set1_ps(1e-9f);
  for (int i = 0; i < 12; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (auto& one : sum) one = _mm256_fmadd_ps(x, one, x);
  for (int i = 1; i < 12; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

double peak_of_a_core() {
  constexpr int rounds = 1'000'000;
  const bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !__builtin_cpu_supports("fma")) return 0;
  volatile float keep = 0;
  double best = 1e9;
  for (int i = 0; i < 20; ++i)
    best = std::min(best, time_of([&] { keep = wide ? fma_512(rounds) : fma_256(rounds); }));
  return 12.0 * rounds * (wide ? 32 : 16) / best / 1e9;
}
#else
double peak_of_a_core() { return 0; }
#endif

// Memory read once, in blocks over the threads, in GB/s.
double read_rate(int threads) {
  hw::set_threads(threads);
  const size_t count = size_t{64} << 20;
  std::vector<uint32_t> memory(count, 1);
  constexpr int blocks = 256;
  std::vector<uint32_t> sums(blocks);
  double best = 1e9;
  for (int i = 0; i < 8; ++i)
    best = std::min(best, time_of([&] {
                      hw::parallel_for(blocks, [&](int block) {
                        const uint32_t* from = memory.data() + count / blocks * block;
                        uint32_t sum = 0;
                        for (size_t j = 0; j < count / blocks; ++j) sum += from[j];
                        sums[static_cast<size_t>(block)] = sum;
                      });
                    }));
  uint32_t all = 0;
  for (uint32_t sum : sums) all += sum;
  return all == count ? static_cast<double>(count) * 4 / best / 1e9 : 0;
}

std::vector<int> numbers(const std::string& list) {
  std::vector<int> out;
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) out.push_back(std::stoi(one));
  return out;
}

struct Line {
  double ours = 1e9, theirs = 1e9, low = 1e9;
  std::string core;
};

void add_process(const std::string& core_type, const std::string& command,
                 std::map<int, Line>& lines) {
  if (core_type.empty())
    unsetenv("OPENBLAS_CORETYPE");
  else
    setenv("OPENBLAS_CORETYPE", core_type.c_str(), 1);
  FILE* child = popen(command.c_str(), "r");
  if (child == nullptr) return;
  int n = 0;
  char core[64];
  for (double ours, theirs, low;
       std::fscanf(child, "%d %lf %lf %lf %63s", &n, &ours, &theirs, &low, core) == 5;)
    if (Line& line = lines[n]; theirs < line.theirs) line = {ours, theirs, low, core};
  pclose(child);
}

}  // namespace

int main(int argc, char** argv) {
  std::string threads = "1,2", sizes = "64,128,197,256,512,1024,2048,4096", kernel, child;
  const std::map<std::string, std::string*> options = {
      {"--threads", &threads}, {"--sizes", &sizes}, {"--kernel", &kernel}, {"--child", &child}};
  for (int i = 1; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc) {
      fmt::print(stderr, "gemm: {}: expected --threads, --sizes or --kernel and a value\n",
                 argv[i]);
      return 2;
    }
    *option->second = argv[i + 1];
  }
  hw::kernel::use(kernel);
  if (!child.empty()) return measure(std::stoi(child), numbers(sizes));

  fmt::print("kernel {}; one core does at most {:.0f} GF/s\n", hw::kernel::name(),
             peak_of_a_core());
  for (int count : numbers(threads)) {
    fmt::print("\n{} thread{}; memory is read at {:.1f} GB/s\n\n", count, count == 1 ? "" : "s",
               read_rate(count));
    fmt::print("| n | headwater GF/s | OpenBLAS GF/s (best core type) | ratio | causal / full |\n");
    fmt::print("|---|---|---|---|---|\n");
    std::fflush(stdout);
    std::map<int, Line> lines;
    for (const char* core_type : {"", "SkylakeX", "Zen", "Haswell"})
      add_process(
          core_type,
          fmt::format("{} --child {} --sizes {} --kernel '{}'", argv[0], count, sizes, kernel),
          lines);
    for (const auto& [n, line] : lines) {
      const double work = 2e-9 * n * n * n;
      fmt::print("| {} | {:.1f} | {:.1f} ({}) | {:.2f} | {:.2f} |\n", n, work / line.ours,
                 work / line.theirs, line.core, line.theirs / line.ours, line.low / line.ours);
    }
  }
}
