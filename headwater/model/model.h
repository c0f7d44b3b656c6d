// A model directory as transformers saves it: config.json, *.safetensors, and tokenizer.json or
// preprocessor_config.json.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "headwater/model/architecture.h"
#include "headwater/model/checkpoint.h"
#include "headwater/model/embedding.h"
#include "headwater/model/layer_weights.h"

namespace headwater {

class Classifier;
class Tokenizer;

/// The weights are mapped and used as they are stored. Nothing that can be seen changes after
/// open(): several inputs may be run at once.
class Model {
 public:
  /// Throws Error if something is missing, wrong or not implemented.
  static std::unique_ptr<Model> open(const std::string& folder);
  /// Binds weights to what they are weights of. Throws Error as open() does.
  Model(Config config, Architecture architecture, Checkpoint checkpoint);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const std::string& name() const { return checkpoint_.name(); }
  const Config& config() const { return config_; }
  const Architecture& architecture() const { return architecture_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  /// What stands before all names of the body's tensors.
  const std::string& prefix() const { return prefix_; }
  /// The table of words, a row each; without outputs for a model of images.
  kernel::Weights words() const { return text_ ? text_->words() : kernel::Weights(); }
  const LayerWeights& layer(int l) const { return layers_[static_cast<size_t>(l)]; }

  /// n x width. Throws Error as TextEmbedder and ImageEmbedder do, and if the model takes the
  /// other.
  Matrix embed(const TextInput& input, int first = 0) const;
  Matrix embed(const Pixels& pixels) const;
  /// What each token is on its own, before positions, types, norm and projection: n x size of a
  /// word, or n x width of an image's tokens.
  Matrix tokens(const TextInput& input) const { return text_->tokens(input); }
  Matrix tokens(const Pixels& pixels) const { return image_->tokens(pixels); }
  /// From the gradient of what embed() gave to that of tokens(). An image's are the same.
  Matrix embed_backward(const TextInput& input, MatrixView gradient) const {
    return text_->backward(input, gradient);
  }
  /// Tokens before an image's patches.
  int image_prefix() const { return image_->prefix(); }

  /// The norm after the last block, where the model has one. out may be hidden.
  void finish(MatrixView hidden, MatrixSpan out) const;
  /// The gradient of what finish() gave becomes that of hidden.
  void finish_backward(MatrixView hidden, MatrixSpan gradient) const;

  /// What gives logits, as config.json names it; bound when it is first asked for. Throws Error as
  /// Classifier does.
  const Classifier& classifier() const;
  /// tokenizer.json, read when it is first asked for; null if the folder has none or the model is
  /// one of images. Throws Error if it cannot be read.
  const Tokenizer* tokenizer() const;
  /// What token `id` is called: the tokenizer's word for it, or its number where there is none.
  std::string token_name(int id) const;

  /// True for a causal model with a head over its vocabulary, its own or the words' table.
  bool has_language_head() const { return language_head_.weights.outputs > 0; }
  /// out(t, id): the logit of each word after row t of finished hidden states. A language head must
  /// be there.
  void logits(MatrixView finished, MatrixSpan out) const;

 private:
  Config config_;
  Architecture architecture_;
  Checkpoint checkpoint_;
  std::string prefix_;
  std::vector<LayerWeights> layers_;
  std::unique_ptr<TextEmbedder> text_;
  std::unique_ptr<ImageEmbedder> image_;
  NormWeights final_norm_;
  LinearWeights language_head_;
  // Made by the first who asks, on whatever thread.
  mutable std::once_flag classifier_made_, tokenizer_made_;
  mutable std::unique_ptr<const Classifier> classifier_;
  mutable std::unique_ptr<const Tokenizer> tokenizer_;
};

}  // namespace headwater
