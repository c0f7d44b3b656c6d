// Eight numbers about the attention of a batch; method/metrics.h has the definitions.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/result/attribution.h"

namespace headwater {

struct Metrics {
  double mean_attention = 0;
  double max_attention = 0;
  double attention_entropy = 0;
  double attention_concentration = 0;
  double rollout_max = 0;
  double rollout_entropy = 0;
  int batch_size = 0;
  int seq_length = 0;  // of the arrays, including padding

  Options options;  // for the rollout
  Range layers;
  int layer = 0;                         // the layer that A is taken from
  Description source;                    // of the first item
  std::optional<Prediction> prediction;  // for a single item, if its model was asked
  std::vector<Prediction> predictions;   // of each item of a batch, if its model has a head
  std::vector<std::string> notes;
  Timing timing;
};

}  // namespace headwater
