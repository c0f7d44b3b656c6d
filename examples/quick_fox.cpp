// A complete example. It reads attention from a file and draws the rollout, one layer next to it,
// how the rollout evolves from layer to layer, and what different discard ratios do.
//
//   headwater demo && build/release/examples/quick_fox demo/quick-fox.json .
#include <cstdio>
#include <string>
#include <utility>

#include "headwater/headwater.h"

namespace hw = headwater;

namespace {

void save(hw::Result result, const std::string& path) {
  hw::write(std::move(result), path);
  std::printf("wrote %s\n", path.c_str());
}

void run(const std::string& file, const std::string& folder) {
  const auto source = hw::open(file);
  const hw::Options options = hw::options_of(hw::Preset::tutorial);

  hw::Attribution rollout = hw::rollout(*source, options);
  std::printf("%s is made of\n", rollout.source.tokens[0].c_str());
  for (size_t j = 0; j < rollout.source.tokens.size(); ++j)
    std::printf("  %.4f  %s\n", rollout.values[0](0, static_cast<int>(j)),
                rollout.source.tokens[j].c_str());

  save(std::move(rollout), folder + "/rollout.svg");
  save(hw::compare_layer(*source, options, -1), folder + "/layer.svg");
  save(hw::compare_evolution(*source, options), folder + "/evolution.svg");
  save(hw::compare_discard(*source, options), folder + "/discard.svg");
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: quick_fox ATTENTION_FILE FOLDER\n");
    return 2;
  }
  try {
    run(words[1], words[2]);
  } catch (const hw::Error& error) {
    std::fprintf(stderr, "quick_fox: %s\n", error.what());
    return 1;
  }
  return 0;
}
