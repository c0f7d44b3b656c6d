// A model directory as transformers saves it: config.json, *.safetensors, and tokenizer.json or
// preprocessor_config.json.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/model/architecture.h"
#include "headwater/model/checkpoint.h"
#include "headwater/model/embedding.h"
#include "headwater/model/layer_weights.h"

namespace headwater {

/// The weights are mapped and used as they are stored. Nothing changes after open(): several inputs
/// may be run at once.
class Model {
 public:
  /// Throws Error if something is missing, wrong or not implemented.
  static std::unique_ptr<Model> open(const std::string& folder);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const std::string& name() const { return checkpoint_.name(); }
  const Architecture& architecture() const { return architecture_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  const LayerWeights& layer(int l) const { return layers_[static_cast<size_t>(l)]; }

  /// n x width. Throws Error as TextEmbedder and ImageEmbedder do, and if the model takes the
  /// other.
  Matrix embed(const TextInput& input, int first = 0) const;
  Matrix embed(const Pixels& pixels) const;
  /// Tokens before an image's patches.
  int image_prefix() const { return image_->prefix(); }

  /// The norm after the last block, where the model has one. out may be hidden.
  void finish(MatrixView hidden, MatrixSpan out) const;

  /// True for a causal model with a head over its vocabulary, its own or the words' table.
  bool has_language_head() const { return language_head_.weights.outputs > 0; }
  /// out(t, id): the logit of each word after row t of finished hidden states. A language head must
  /// be there.
  void logits(MatrixView finished, MatrixSpan out) const;

 private:
  Model(Architecture architecture, Checkpoint checkpoint, bool tied);

  Architecture architecture_;
  Checkpoint checkpoint_;
  std::vector<LayerWeights> layers_;
  std::unique_ptr<TextEmbedder> text_;
  std::unique_ptr<ImageEmbedder> image_;
  NormWeights final_norm_;
  LinearWeights language_head_;
};

/// The norm of `model`'s kind. out may be x.
void apply_norm(const Architecture& model, const NormWeights& norm, MatrixView x, MatrixSpan out);

}  // namespace headwater
