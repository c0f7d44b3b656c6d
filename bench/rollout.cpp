// Times rollout() on attention that lies in memory. bench/run.py drives it, in turns with the
// others:
//
//   bench_rollout FILE LAYERS HEADS N THREADS
//
// reads LAYERS x HEADS x N x N floats from FILE into memory of its own, then answers each line of
// standard input with one line of JSON:
//
//   full DISCARD    the whole rollout          {"seconds": ..., "extra_bytes": ..., "reading": ...}
//   row DISCARD     row 0 of it                the same; extra_bytes: the most memory beyond what
//                                              was there before
//   read            one pass over all floats   {"seconds": ...}
//   keep FILE       the values of the last rollout as raw floats
//   trim            gives free memory back, so that the next call pays for all it needs
#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "headwater/core/parallel.h"
#include "headwater/core/stopwatch.h"
#include "headwater/headwater.h"
#include "headwater/kernel/kernel.h"

namespace hw = headwater;

namespace {

std::vector<float> load(const std::string& path, size_t count) {
  std::vector<float> out(count);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(out.data()),
                 static_cast<std::streamsize>(count * sizeof(float))))
    throw hw::Error(
        fmt::format("{}: is too short, expected {} floats; let bench/run.py make it", path, count));
  return out;
}

// Bytes of a line of /proc/self/status.
size_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    size_t kilobytes = 0;
    if (word == name + ":" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// As integers, which add in any order: the compiler may use all of a vector.
__attribute__((target_clones("avx512f", "avx2", "default"))) uint32_t sum_of(const uint32_t* from,
                                                                             size_t count) {
  uint32_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += from[i];
  return sum;
}

std::string answer_read(const std::vector<float>& attention) {
  constexpr size_t blocks = 512;
  const auto* words = reinterpret_cast<const uint32_t*>(attention.data());
  std::vector<uint32_t> sums(blocks);
  const hw::Stopwatch watch;
  hw::parallel_for(blocks, [&](int b) {
    const size_t begin = attention.size() * static_cast<size_t>(b) / blocks;
    const size_t end = attention.size() * (static_cast<size_t>(b) + 1) / blocks;
    sums[static_cast<size_t>(b)] = sum_of(words + begin, end - begin);
  });
  const double seconds = watch.seconds();
  uint32_t sum = 0;
  for (uint32_t one : sums) sum += one;
  return fmt::format(R"({{"seconds": {}, "sum": {}}})", seconds, sum);
}

std::string answer_rollout(hw::Source& source, bool one_row, double discard,
                           hw::Attribution& result) {
  hw::Options options;
  options.discard = discard;
  if (one_row) options.row = {hw::Row::Kind::index, 0};
  result = {};
  forget_peak();
  const size_t before = status_bytes("VmRSS");
  const hw::Stopwatch watch;
  result = hw::rollout(source, options);
  const double seconds = watch.seconds();
  const size_t peak = status_bytes("VmHWM");
  return fmt::format(
      R"({{"seconds": {}, "extra_bytes": {}, "reading": {}, "preparing": {}, "method": {}}})",
      seconds, peak > before ? peak - before : 0, result.timing.reading, result.timing.preparing,
      result.timing.method);
}

std::string answer(const std::string& line, const std::vector<float>& attention, hw::Source& source,
                   hw::Attribution& result) {
  std::istringstream words(line);
  std::string what, path;
  words >> what;
  if (what == "read") return answer_read(attention);
  if (what == "trim") return fmt::format(R"({{"trimmed": {}}})", malloc_trim(0));
  if (what == "keep") {
    words >> path;
    const hw::Matrix& values = result.values.at(0);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * 4));
    return fmt::format(R"({{"rows": {}}})", values.rows());
  }
  double discard = 0;
  words >> discard;
  return answer_rollout(source, what == "row", discard, result);
}

void serve(const std::vector<std::string>& words) {
  const int64_t layers = std::stoll(words.at(1)), heads = std::stoll(words.at(2)),
                n = std::stoll(words.at(3));
  hw::set_threads(std::stoi(words.at(4)));
  const std::vector<float> attention = load(words[0], static_cast<size_t>(layers * heads * n * n));
  const std::unique_ptr<hw::Batch> batch =
      hw::from_memory({{hw::DType::f32, {layers, heads, n, n}, attention.data()}});
  const std::unique_ptr<hw::Source> source = batch->item(0);
  std::cout << fmt::format(R"({{"kernel": "{}", "version": "{}"}})", hw::kernel::name(),
                           hw::version())
            << std::endl;
  hw::Attribution result;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(line, attention, *source, result) << std::endl;
}

}  // namespace

int main(int count, char** words) {
  try {
    serve({words + 1, words + count});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_rollout: %s\n", error.what());
    return 1;
  }
}
