// Times attention flow, and libraries on the same integers; bench/flow.py runs it and makes the
// table.
//
//   bench_flow ours KIND n L all|row|every THREADS REPEATS   seconds, best of REPEATS; all/16 and
//                                                            every/16 for every 16th sink alone
//   bench_flow lemon|igraph KIND n L PAIRS                   seconds a pair, after equality
//   bench_flow value KIND n L i t                            one pair, in units of 2^-30
//   bench_flow write KIND n L FILE                           the integers: int32 n, L, then layers
// KIND is one of tests/flow/kinds.h, or a file of attention (n and L are then the file's).
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>

#include "bench/flow_competitors.h"
#include "headwater/core/threads.h"
#include "headwater/headwater.h"
#include "headwater/layer/layers.h"
#include "headwater/method/flow/pairs.h"
#include "tests/flow/kinds.h"

namespace headwater::bench {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Capacities read(const std::string& kind, int n, int layers) {
  if (kind.find('.') == kind.npos) {
    Capacities capacities(n);
    for (const Matrix& layer : test::stack_of(kind, n, layers, 7)) capacities.add(layer);
    return capacities;
  }
  const auto source = open(kind);
  headwater::Layers prepared(*source, {});
  Capacities capacities(prepared.n());
  prepared.each(Direction::up, [&](int, MatrixSpan map) { capacities.add(map); });
  return capacities;
}

Layers lists_of(const Capacities& capacities) {
  Layers lists;
  for (int l = 1; l <= capacities.layers(); ++l) {
    lists.emplace_back();
    for (int i = 0; i < capacities.n(); ++i)
      lists.back().insert(lists.back().end(), capacities.row(l, i),
                          capacities.row(l, i) + capacities.n());
  }
  return lists;
}

void time_ours(const Capacities& capacities, const std::string& what, int threads, int repeats) {
  set_threads(threads);
  FlowRequest request;
  request.sinks.resize(static_cast<size_t>(capacities.n()));
  std::iota(request.sinks.begin(), request.sinks.end(), 0);
  request.sources = what == "row" ? std::vector<int>{capacities.n() / 2} : request.sinks;
  request.every_top = what.starts_with("every");
  if (const size_t slash = what.find('/'); slash != what.npos) {
    const size_t step = std::stoul(what.substr(slash + 1));
    std::vector<int> some;
    for (size_t c = step / 2; c < request.sinks.size(); c += step) some.push_back(request.sinks[c]);
    request.sinks = some;
  }
  double best = 1e30, least = 1e30;
  FlowValues values;
  for (int k = 0; k < repeats; ++k) {
    const double start = now(), used = processor_seconds();
    values = flow_of_pairs(capacities, request);
    best = std::min(best, now() - start);
    least = std::min(least, processor_seconds() - used);
  }
  const double pairs = static_cast<double>(request.sources.size() * request.sinks.size());
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  fmt::print(
      "{{\"seconds\": {:.6f}, \"processor_seconds\": {:.6f}, \"saturated\": {:.4f}, "
      "\"memory_mb\": {:.1f}}}\n",
      best, least, static_cast<double>(values.saturated) / pairs,
      static_cast<double>(used.ru_maxrss) / 1024);
}

int32_t value_of(const Capacities& capacities, int i, int t) {
  FlowRequest request;
  request.sources = {i};
  request.sinks = {t};
  return flow_of_pairs(capacities, request).tops[0][0];
}

int time_competitor(const Capacities& capacities, const std::string& name, int pairs) {
  const Layers lists = lists_of(capacities);
  const int n = capacities.n();
  const auto competitor = name == "lemon" ? lemon_preflow(lists, n) : igraph_push_relabel(lists, n);
  std::mt19937 random(1);
  double seconds = 0;
  for (int k = 0; k < pairs; ++k) {
    int i = static_cast<int>(random() % static_cast<unsigned>(n));
    int t = static_cast<int>(random() % static_cast<unsigned>(n));
    if (capacities.causal() && i < t) std::swap(i, t);
    const int32_t ours = value_of(capacities, i, t);
    const double start = now();
    const int64_t theirs = competitor->flow(i, t);
    seconds += now() - start;
    if (ours != theirs) {
      fmt::print(stderr, "bench_flow: {} gives {} for ({}, {}), headwater {}\n", name, theirs, i, t,
                 ours);
      return 1;
    }
  }
  fmt::print("{{\"seconds_a_pair\": {:.9f}, \"pairs\": {}}}\n", seconds / pairs, pairs);
  return 0;
}

void write_integers(const Capacities& capacities, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const int32_t sizes[2] = {capacities.n(), capacities.layers()};
  file.write(reinterpret_cast<const char*>(sizes), sizeof sizes);
  for (const std::vector<int32_t>& layer : lists_of(capacities))
    file.write(reinterpret_cast<const char*>(layer.data()),
               static_cast<std::streamsize>(layer.size() * sizeof(int32_t)));
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 5) {
    fmt::print(stderr, "bench_flow: see the head of bench/flow.cpp\n");
    return 2;
  }
  const Capacities capacities = read(words[1], std::stoi(words[2]), std::stoi(words[3]));
  if (words[0] == "write")
    write_integers(capacities, words[4]);
  else if (words[0] == "value")
    fmt::print("{{\"value\": {}}}\n",
               value_of(capacities, std::stoi(words[4]), std::stoi(words.at(5))));
  else if (words[0] != "ours")
    return time_competitor(capacities, words[0], std::stoi(words[4]));
  else
    time_ours(capacities, words[4], std::stoi(words.at(5)), std::stoi(words.at(6)));
  return 0;
}

}  // namespace
}  // namespace headwater::bench

int main(int count, char** words) { return headwater::bench::run({words + 1, words + count}); }
