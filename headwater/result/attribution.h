// The result of a method: its values, and everything that tells two results apart.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/double_matrix.h"
#include "headwater/core/matrix.h"
#include "headwater/core/range.h"
#include "headwater/layer/options.h"
#include "headwater/result/gradient_record.h"
#include "headwater/result/relevance_record.h"
#include "headwater/source/description.h"
#include "headwater/source/prediction.h"

namespace headwater {

/// In seconds, as `timing` shows them.
struct Timing {
  double reading = 0;    // getting and fusing the layers
  double preparing = 0;  // residual, discard, division
  double method = 0;     // the method's own work
};

/// One attention weight of a flow's minimum cut, or what the flow takes of it: token `from` of
/// `layer` attends to token `to`.
struct CutArc {
  int layer = 0, from = 0, to = 0;
  double capacity = 0;
  bool operator==(const CutArc&) const = default;
};

/// values[k](r, j): how much of output token rows[r] comes from input token j.
struct Attribution {
  std::string method;  // "rollout", "average", "raw", "flow", "gradient", "relevance"
  Options options;
  Range layers;  // options.layers, resolved
  Description source;
  std::vector<int> rows;  // the output tokens, one for each row of values; empty if mean_row
  std::vector<std::string> outputs;  // what `rows` indexes, if not the source's own tokens
  bool mean_row = false;             // a single row: the mean over all output tokens
  /// The top layer of each matrix in values; -1 is the input before any layer, for relevance. Empty
  /// if there is only one matrix.
  std::vector<int> by_layer;
  std::vector<int> columns;                  // the input tokens, if not all n; else empty
  std::vector<Matrix> values;                // each rows x n, or rows x columns
  bool has_signs = false;                    // values may be negative, and sum to anything
  std::vector<DoubleMatrix> exact;           // values in double, if float cannot hold them (flow)
  std::optional<GradientRecord> gradient;    // for method gradient
  std::optional<RelevanceRecord> relevance;  // for method relevance
  std::optional<std::vector<CutArc>> cut;    // for method flow with `cut`
  std::vector<CutArc> carried;               // with `cut`: a flow of that value, arc by arc
  std::optional<Prediction> prediction;      // of the model behind the source, if it was asked
  std::vector<Matrix> maps;   // the fused map of each layer of `layers`, if a page is to hold them
  std::vector<Range> pieces;  // the tokens of each word, if they were merged to words (words.h)
  std::vector<std::string> notes;
  Timing timing;
  std::string label;  // the name of a comparison's panel, else ""
};

}  // namespace headwater
