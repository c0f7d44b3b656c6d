// Times a model's forward pass. bench/model.py drives it, in turns with PyTorch:
//
//   bench_model FOLDER THREADS
//
// opens the model and answers each line of standard input with one line of JSON:
//
//   ids 101,2023,...   the input of what follows            {"tokens": ...}
//   forward            all layers                           {"seconds": ..., "processor": ...}
//   map                the same with every layer's head mean
//   rollout            the same with the rollout of them
//   decode PAST        one token after PAST, with its keys and values kept, up to the logits
//   keep FILE          the last hidden states, rollout or logits as raw floats
//
// processor: seconds of processor time of all threads together.
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "headwater/core/stopwatch.h"
#include "headwater/headwater.h"
#include "headwater/kernel/kernel.h"
#include "headwater/model/forward.h"
#include "headwater/model/model_source.h"

namespace hw = headwater;

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Bench {
 public:
  explicit Bench(const std::string& folder) : model_(hw::Model::open(folder)) {}

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string what, rest;
    words >> what >> rest;
    if (what == "ids") return set_ids(rest);
    if (what == "forward") return timed([&] { forward(false); });
    if (what == "map") return timed([&] { forward(true); });
    if (what == "rollout") return timed([&] { rollout(); });
    if (what == "decode") return decode(std::stoi(rest));
    if (what == "keep") return keep(rest);
    throw hw::Error(fmt::format("standard input: holds '{}', expected a request", what));
  }

 private:
  template <class Work>
  static std::string timed(const Work& work) {
    const double before = processor_seconds();
    const hw::Stopwatch watch;
    work();
    const double seconds = watch.seconds();
    return fmt::format(R"({{"seconds": {}, "processor": {}}})", seconds,
                       processor_seconds() - before);
  }

  std::string set_ids(const std::string& list) {
    input_ = {};
    cache_.reset();
    std::istringstream in(list);
    for (std::string one; std::getline(in, one, ',');) input_.ids.push_back(std::stoi(one));
    return fmt::format(R"({{"tokens": {}}})", input_.ids.size());
  }

  void forward(bool maps) {
    const int n = static_cast<int>(input_.ids.size()), heads = model_->architecture().heads;
    hw::Matrix map(maps ? n : 0, n);
    hw::kernel::HeadMap fused;
    if (maps) fused = {hw::kernel::Reduce::sum, 1 / static_cast<float>(heads), 0, heads, map};
    hw::Forward forward(*model_, model_->embed(input_));
    while (forward.next() < model_->architecture().layers) forward.step(fused);
    result_ = hw::Matrix(n, model_->architecture().width);
    model_->finish(forward.hidden(), result_);
  }

  void rollout() {
    hw::Description example;
    example.name = model_->name();
    example.tokens.assign(input_.ids.size(), "");
    example.layers = model_->architecture().layers;
    example.heads.assign(static_cast<size_t>(example.layers), model_->architecture().heads);
    example.causal = model_->architecture().causal;
    hw::ModelSource source(model_, example, input_);
    result_ = std::move(hw::rollout(source).values.at(0));
  }

  // The cache is filled once for all calls with the same past.
  std::string decode(int past) {
    const auto run = [&](int first, int count) {
      hw::TextInput part;
      part.ids.assign(input_.ids.begin() + first, input_.ids.begin() + first + count);
      hw::Forward forward(*model_, model_->embed(part, first), *cache_);
      while (forward.next() < model_->architecture().layers) forward.step();
      hw::Matrix last(1, model_->architecture().width);
      model_->finish(forward.hidden().rows(count - 1, 1), last);
      return last;
    };
    if (!cache_ || cache_->capacity != past + 1) {
      cache_.emplace(*model_, past + 1);
      run(0, past);
    }
    cache_->count = past;
    result_ = hw::Matrix(1, model_->architecture().text->vocabulary);
    return timed([&] { model_->logits(run(past, 1), result_); });
  }

  std::string keep(const std::string& path) const {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(result_.data()),
               static_cast<std::streamsize>(result_.size() * sizeof(float)));
    return fmt::format(R"({{"rows": {}}})", result_.rows());
  }

  std::shared_ptr<hw::Model> model_;
  hw::TextInput input_;
  std::optional<hw::Cache> cache_;
  hw::Matrix result_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "bench_model: expected FOLDER THREADS; let bench/model.py call it\n");
    return 2;
  }
  try {
    hw::set_threads(std::stoi(argv[2]));
    Bench bench(argv[1]);
    fmt::print("{{\"kernel\": \"{}\"}}\n", hw::kernel::name());
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
      fmt::print("{}\n", bench.answer(line));
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_model: {}\n", error.what());
    return 1;
  }
}
