// One output token's row by every method, up to every layer.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/source/differentiable.h"

namespace headwater {

/// by_layer[k](j): how much the row has of input token j, layer k of the range being the top.
struct LayeredRow {
  std::string method;
  std::vector<Vector> by_layer;
};

/// The names of the methods, in the order in which they are given.
std::vector<std::string> layered_methods();

/// What a backward pass gave: the answer, and the map of each layer of the range.
struct GradientMaps {
  GradientAnswer answer;
  std::vector<Matrix> maps;
};

/// One forward and one backward pass; holds an n x n matrix a layer. Throws Error as
/// Differentiable::gradients does.
GradientMaps gradient_maps(Source& source, const GradientRequest& request);

/// Row `row` by raw, rollout, flow and the three gradient rules over options.layers; options.row is
/// not asked. `maps` are of the same layers and become scratch.
std::vector<LayeredRow> layered_rows(Source& source, const Options& options, int row,
                                     GradientMaps& maps);

}  // namespace headwater
