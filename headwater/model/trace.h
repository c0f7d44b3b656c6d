// A forward pass that is kept, and backward passes through it.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "headwater/model/backward.h"
#include "headwater/model/forward.h"
#include "headwater/model/output_head.h"
#include "headwater/source/gradient.h"

namespace headwater {

/// What backward passes need of a forward pass. `sums[l]` is the input of layer l's last norm, or
/// the layer's output: n x width, and enough to run layer l + 1 again. `states` makes that
/// unnecessary, and is kept if it takes at most 256 MB.
struct Trace {
  Matrix embedded;
  std::vector<Matrix> sums;
  std::vector<LayerState> states;  // of all layers, or of none
  Matrix hidden;                   // after the last layer
  Matrix finished;                 // the output of Model::finish
  std::vector<int> lengths;        // of several inputs one below the other; empty: one input
};

/// Runs the model on `embedded`, the rows of its first block, or of several inputs as in Forward.
/// Throws Error, which names the layer and the token, for numbers that are not finite. `spare` are
/// the states of an earlier run of the model, whose memory is reused. If there are `rows`, only
/// these of the last layer are asked for, and may have a gradient: the others of `hidden` are 0.
Trace trace(const Model& model, Matrix embedded, std::vector<int> lengths = {},
            std::vector<LayerState> spare = {}, const std::vector<int>& rows = {});

/// Runs layers 0 ... end - 1 by calls of step(forward), with the same check.
void run_checked(const Model& model, Matrix embedded, int end,
                 const std::function<void(Forward& forward)>& step,
                 const std::vector<int>& lengths = {});

/// Adds the gradient of the target to `gradient`, which is that of `finished`, the Trace::finished
/// of one input. Subtracts the gradient of the logit against the target.
void add_target(const OutputHead& head, MatrixView finished, const Target& target, Propagation& how,
                MatrixSpan gradient);

/// out[t] = x(t) . gradient(t), summed in double.
void put_products(MatrixView x, MatrixView gradient, std::span<float> out);

/// What to do at each layer of a backward pass; both may be empty.
struct LayerCalls {
  /// Which map is wanted of a layer. Called before the layer is differentiated.
  std::function<kernel::HeadMap(int layer)> map;
  /// Called after it, with the layer's input and the gradient of that.
  std::function<void(int layer, MatrixView input, MatrixView gradient, const Backward&)> done;
};

/// Replaces the gradient of trace.hidden by that of trace.embedded. If the gradient has fewer
/// rows than the trace, the model must be causal, and the other rows are left out.
void pass_back(const Model& model, const Trace& trace, Propagation& how, MatrixSpan gradient,
               const LayerCalls& calls = {});

}  // namespace headwater
