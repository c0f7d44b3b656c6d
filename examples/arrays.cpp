// Attention that a program has in memory: two layers of one head over two tokens.
//
//   build/release/examples/arrays
#include <cstdio>
#include <vector>

#include "headwater/headwater.h"

namespace hw = headwater;

int main() {
  // Row i: what output token i attends to. The lowest layer comes first. Borrowed, not copied.
  const std::vector<float> lower = {1, 0, 0.5f, 0.5f}, upper = {1, 0, 0.25f, 0.75f};
  const auto batch = hw::from_memory(
      {{hw::DType::f32, {2, 2}, lower.data()}, {hw::DType::f32, {2, 2}, upper.data()}});
  const auto source = batch->item(0);
  hw::Options options;
  options.row = hw::Row::last;
  const hw::Attribution rollout = hw::rollout(*source, options);
  std::printf("rollout  %.5f %.5f\n", rollout.values[0](0, 0), rollout.values[0](0, 1));

  // The most that can flow from the last token to the first, and the weights that limit it.
  hw::FlowOptions pair;
  pair.column = 0;
  pair.cut = true;
  const hw::Attribution flow = hw::flow(*source, options, pair);
  std::printf("flow     %.5f\n", flow.exact[0].row(0)[0]);
  for (const hw::CutArc& arc : *flow.cut)
    std::printf("  layer %d, token %d to %d: %.5f\n", arc.layer, arc.from, arc.to, arc.capacity);
}
