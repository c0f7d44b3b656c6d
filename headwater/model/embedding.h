// From ids or pixels to the rows that enter the first block.
#pragma once
#include <string>
#include <vector>

#include "headwater/model/architecture.h"
#include "headwater/model/image/processor.h"
#include "headwater/model/layer_weights.h"
#include "headwater/model/propagation.h"

namespace headwater {

/// A text as input to a model.
struct TextInput {
  std::vector<int> ids;
  std::vector<int> types;  // one for each id, or empty: all 0
};

/// The tensors of a text embedding.
class TextEmbedder {
 public:
  TextEmbedder(const Architecture& model, const Checkpoint& checkpoint, const std::string& prefix);

  /// n x width, for tokens at positions first ... first + n - 1. Throws Error, which names the id,
  /// if one is outside the vocabulary, and if there are more tokens than positions.
  Matrix embed(const TextInput& input, int first = 0) const;

  /// Only the words, n x size.
  Matrix tokens(const TextInput& input) const;
  /// Rows of words as they are added up in sums(), n x size or width.
  Matrix summands(Matrix words) const;
  /// The sum of words, positions and types, before the norm, n x size or width. Throws Error as
  /// embed() does.
  Matrix sums(const TextInput& input, int first) const;
  /// embed() from the sums on.
  Matrix embed(Matrix sums) const;
  /// Turns the gradient of embed(sums), n x width, into the gradient of the sums, which is also
  /// that of the words.
  Matrix backward(MatrixView sums, Propagation& how, MatrixView gradient) const;

  const kernel::Weights& words() const { return words_; }

 private:
  void copy_word(int id, std::span<float> out) const;
  /// Through `project_`, if there is one.
  Matrix projected(Matrix rows) const;

  const Architecture& model_;
  std::string name_;
  kernel::Weights words_, positions_, types_;
  NormWeights norm_;
  LinearWeights project_;
};

/// The tensors of an image embedding.
class ImageEmbedder {
 public:
  ImageEmbedder(const Architecture& model, const Checkpoint& checkpoint, const std::string& prefix);

  /// Tokens before the patches.
  int prefix() const { return prefix_.rows() + registers_.rows(); }
  /// (prefix + patches) x width, patches row by row. Throws Error if the image's size is not a
  /// multiple of the patch, or not one that the model takes.
  Matrix embed(const Pixels& pixels) const { return embed(sums(pixels)); }
  /// The same without positions and norm.
  Matrix tokens(const Pixels& pixels) const;
  /// Tokens with positions, before the norm.
  Matrix sums(const Pixels& pixels) const;
  /// embed() from the sums on.
  Matrix embed(Matrix sums) const;
  /// Turns the gradient of embed(sums) into the gradient of the sums.
  Matrix backward(MatrixView sums, Propagation& how, MatrixView gradient) const;

 private:
  void check(const Pixels& pixels) const;

  const Architecture& model_;
  std::string name_;
  Matrix prefix_, registers_;  // one row for each token
  Matrix positions_;           // of the prefix, then of the patches in a square grid
  LinearWeights project_;
  NormWeights norm_;
};

}  // namespace headwater
