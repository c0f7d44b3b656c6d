// One output token's row by every method: up to every layer, or for all layers at once.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/source/differentiable.h"

namespace headwater {

/// by_layer[k](j): how much of the row comes from input token j, with layer k of the range on top.
/// Methods that follow the whole model have a single entry.
struct LayeredRow {
  std::string method;
  std::vector<Vector> by_layer;
};

/// The names of all methods, in the order of layered_rows.
std::vector<std::string> layered_methods();

/// Whether the method has a single entry, for all layers: gradient-x-input and relevance.
bool follows_whole_model(std::string_view method);

/// The results of a backward pass: the answer, and the map of each layer of the range.
struct GradientMaps {
  GradientAnswer answer;
  std::vector<Matrix> maps;
};

/// One forward and one backward pass. Keeps one n x n matrix a layer. Throws Error as
/// Differentiable::gradients does.
GradientMaps gradient_maps(Source& source, const GradientRequest& request);

/// Row `row` by `methods`, some of layered_methods() in their order: attention and gradient rules
/// over options.layers; relevance and gradient-x-input for `target`, against the other class if
/// there are two. Ignores options.row. `maps` must be of the same layers and target, and is
/// overwritten.
std::vector<LayeredRow> layered_rows(Source& source, const Options& options, int row,
                                     const std::vector<std::string>& methods,
                                     const TargetRequest& target, GradientMaps& maps);

}  // namespace headwater
