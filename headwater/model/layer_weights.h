// The tensors of a model's blocks, found by the names of its family, and checked.
#pragma once
#include <string>
#include <vector>

#include "headwater/model/architecture.h"
#include "headwater/model/checkpoint.h"

namespace headwater {

struct LinearWeights {
  kernel::Weights weights;  // no outputs: the model has none
  Vector bias;              // empty: none
};

struct NormWeights {
  Vector weight;  // empty: the model has none
  Vector bias;    // empty: none
};

struct CrossWeights {
  LinearWeights query, key, value, mixed;
  NormWeights norm;
};

/// One block. Weights are borrowed from the checkpoint; vectors are copies in float.
struct LayerWeights {
  LinearWeights query, key, value;  // separate, or
  LinearWeights packed;
  NormWeights query_norm, key_norm;
  LinearWeights mixed;
  LinearWeights up, gate, down;
  NormWeights attention_norm, feed_norm;
  NormWeights attention_out_norm, feed_out_norm;
  Vector attention_scale, feed_scale;
  CrossWeights cross;
  float scale = 1;  // of the scores
  int window = 0;
  bool rotated = true;  // by its positions, if the model has a rope
};

/// All blocks. Those that share their tensors (ALBERT) are held once.
class ModelBlocks {
 public:
  /// Every name starts with `prefix`. Throws Error naming the first tensor that is missing or does
  /// not have the architecture's shape or type.
  ModelBlocks(const Architecture& model, const Checkpoint& checkpoint, const std::string& prefix);
  ModelBlocks() = default;
  const LayerWeights& operator[](int l) const {
    return different_[static_cast<size_t>(which_[static_cast<size_t>(l)])];
  }

 private:
  std::vector<LayerWeights> different_;
  std::vector<int> which_;
};

LinearWeights bind_linear(const Checkpoint& checkpoint, const std::string& prefix,
                          const LinearNames& names, int outputs, int inputs,
                          bool input_major = false);

/// Outputs first ... first + count - 1 of a map that is stored output by output.
kernel::Weights outputs_of(const kernel::Weights& whole, int first, int count);

/// Whether there is such a tensor: a name that is empty or ends with a dot means none.
NormWeights bind_norm(const Checkpoint& checkpoint, const std::string& name,
                      Architecture::Norm kind, int size);

}  // namespace headwater
