// A model directory as transformers saves it: config.json, weights, and a tokenizer or
// preprocessor_config.json.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/core/on_first_use.h"
#include "headwater/model/architecture.h"
#include "headwater/model/checkpoint.h"
#include "headwater/model/embedding.h"
#include "headwater/model/layer_weights.h"
#include "headwater/model/places.h"
#include "headwater/model/propagation.h"

namespace headwater {

class Classifier;
class Convolution;
class Tokenizer;

/// Weights are mapped and used as stored. Nothing observable changes after open(), so several
/// inputs may run at once.
class Model {
 public:
  /// Throws Error if something is missing, wrong or not implemented. `ignore_code` as in
  /// describe(), and so is `side`. `name` is the model's name in errors; "": its folder.
  static std::unique_ptr<Model> open(const std::string& folder, bool ignore_code = false,
                                     Side side = Side::text, const std::string& name = {});
  /// Binds the weights to the architecture. Throws Error as open() does.
  Model(Config config, Architecture architecture, Checkpoint checkpoint);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// As its user calls it.
  const std::string& name() const { return name_.empty() ? folder() : name_; }
  const std::string& folder() const { return checkpoint_.name(); }
  const Config& config() const { return config_; }
  const Architecture& architecture() const { return architecture_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  /// The prefix of the body's tensor names.
  const std::string& prefix() const { return prefix_; }
  /// The table of words, one row each; no outputs for a model of images.
  kernel::Weights words() const { return text_ ? text_->words() : kernel::Weights(); }
  const LayerWeights& layer(int l) const { return layers_[l]; }

  /// n x width. Throws Error as TextEmbedder and ImageEmbedder do, and if the model takes the other
  /// kind of input.
  Matrix embed(const TextInput& input, int first = 0) const;
  Matrix embed(const Pixels& pixels) const;
  /// Each token on its own, before positions, types, norm and projection: n x size for a text, n x
  /// width for an image.
  Matrix tokens(const TextInput& input) const { return text_->tokens(input); }
  Matrix tokens(const Pixels& pixels) const { return image_->tokens(pixels); }
  /// The parts of a text's embed(): words, positions and types together, before norm and
  /// projection, n x size; and the function from these rows to embed()'s result, with its
  /// derivative.
  const TextEmbedder& text() const { return *text_; }
  /// The same for an image: rows before the norm of them all, n x width.
  const ImageEmbedder& image() const { return *image_; }
  /// The number of tokens before an image's patches.
  int image_prefix() const { return image_->prefix(); }

  /// What distances add to the scores of an input of n tokens, as kernel::Attention has it; no rows
  /// if the model has no such thing.
  Matrix distances(int n) const;
  /// The same where it depends on queries and keys; null if the model has no such thing.
  const Places* places() const { return places_.get(); }
  /// What follows the first block; null if nothing does.
  const Convolution* convolution() const { return convolution_.get(); }

  /// The norm after the last block, if the model has one. out may be hidden.
  void finish(MatrixView hidden, MatrixSpan out) const;
  /// Replaces the gradient of finish()'s output by that of hidden.
  void finish_backward(MatrixView hidden, Propagation& how, MatrixSpan gradient) const;

  /// The classifier that config.json names, bound on first use. Throws Error as Classifier does.
  const Classifier& classifier() const;
  /// The tokenizer of the folder, read on first use; null if there is none or the model is one of
  /// images. Throws Error if it cannot be read.
  const Tokenizer* tokenizer() const;
  /// The tokenizer's word for token `id`, or the id itself if there is no tokenizer.
  std::string token_name(int id) const;

  /// True for a causal model that can predict words, by its own weights or the table of words.
  bool has_language_head() const { return language_head_.weights.outputs > 0; }
  /// out(t, id): the logit of each word after row t of the finished hidden states. Requires
  /// has_language_head().
  void logits(MatrixView finished, MatrixSpan out) const;
  /// Adds the gradient of the logit of word `id` after the row `finished` to that of the row.
  void add_logit_gradient(MatrixView finished, int id, kernel::Slope slope,
                          std::span<float> gradient) const;
  /// The same for all words, each logit's gradient times its weight. Both matrices have one row.
  void add_logit_gradients(MatrixView finished, MatrixView weights, kernel::Slope slope,
                           MatrixSpan gradient) const;

 private:
  void bind_distances();
  void uncapped_logits(MatrixView finished, MatrixSpan out) const;
  Config config_;
  Architecture architecture_;
  Checkpoint checkpoint_;
  std::string name_;  // "": the folder's
  std::string prefix_;
  ModelBlocks layers_;
  std::unique_ptr<TextEmbedder> text_;
  std::unique_ptr<ImageEmbedder> image_;
  NormWeights final_norm_;
  Matrix distance_bias_;  // buckets x heads
  std::unique_ptr<Places> places_;
  std::unique_ptr<Convolution> convolution_;
  LinearWeights language_head_, language_dense_;
  float language_cap_ = 0, language_scale_ = 1;
  OnFirstUse<Classifier> classifier_;
  OnFirstUse<Tokenizer> tokenizer_;
};

}  // namespace headwater
