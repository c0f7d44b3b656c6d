// What a program outside this tree does first: open a file of attention, trace it, look at a row.
#include <fstream>
#include <iostream>

#include "headwater/headwater.h"
namespace hw = headwater;

int main() {
  std::ofstream("two_tokens.json") << R"({"tokens": ["a", "b"],
    "attentions": [[[1, 0], [0.5, 0.5]], [[1, 0], [0.25, 0.75]]]})";
  const auto source = hw::open("two_tokens.json");
  const hw::Attribution rollout = hw::rollout(*source, hw::Options{});
  const hw::Matrix& values = rollout.values[0];
  std::cout << "headwater " << hw::version() << ": " << values(1, 0) << ' ' << values(1, 1) << '\n';
}
