// Case files: inputs and results that a person can check by hand.
//
//   # two tokens, two causal layers, residual one half
//   layers 1 0  .5 .5 | 1 0  .25 .75
//   rollout residual=0.5
//   expect 1 0  .34375 .65625
//
// `layers` has a map for each layer, row by row; `|` parts layers, `/` parts the heads of a layer;
// a number may be a fraction (1/3) or nan. It stays until the next one; so does `tokens`. A command
// (rollout, by-layer, average, raw, metrics) takes the options of design.md as name=value, and
// layer=K, sums=any, nan=identity where they apply; a preset comes first, wherever it stands. Under
// it stand one or more of
//   expect NUMBERS             all values; `|` parts the layers of by-layer; name=value for metrics
//   expect error usage|work TEXT
//   expect note TEXT           a note that holds TEXT
//   expect no note
#pragma once
#include <map>
#include <string>
#include <vector>

namespace headwater::test {

struct Case {
  int line = 0;                                          // of the command
  std::vector<std::vector<std::vector<double>>> layers;  // layer, head, numbers
  std::vector<std::string> tokens;
  std::string command;
  std::map<std::string, std::string> options;
  std::vector<std::string> expect;  // what follows the word
};

/// Throws std::runtime_error that names the line for anything it does not know.
std::vector<Case> read_cases(const std::string& path);

/// Numbers parted by spaces, in groups parted by `|`.
std::vector<std::vector<double>> read_numbers(const std::string& text);

/// Runs the case and checks all that it expects.
void run_case(const Case& one);

}  // namespace headwater::test
