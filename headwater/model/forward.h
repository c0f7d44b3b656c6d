// Runs an input, or several side by side, up through the blocks of a model.
//
//   normed = norm(x)                                   norm first: GPT-2, Llama, ViT
//   q, k, v = W normed; q, k rotated by their positions
//   x += W softmax(q k' scale) v                       attention, with the fused map in one pass
//   x += W activation(W norm(x))                       feed-forward, gated or not
//
// or, norm after (BERT): x = norm(x + attention(x)), x = norm(x + feed-forward(x)),
// or, norms of the added parts (OLMo 2, Gemma 3): x += norm(attention(x)), x +=
// norm(feed-forward(x)), or, both halves at once (GPT-NeoX): x += attention(norm(x)) +
// feed-forward(norm(x)).
#pragma once
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "headwater/model/after_attention.h"
#include "headwater/model/layer_state.h"
#include "headwater/model/model.h"
#include "headwater/model/places.h"
#include "headwater/model/segments.h"

namespace headwater {

/// Keys and values of the tokens so far, for each layer, which the next token attends to.
struct Cache {
  Cache(const Model& model, int capacity);
  int count = 0;  // tokens in it
  int capacity = 0;
  std::vector<Matrix> keys, values;  // capacity x (groups * head size) each
};

/// Keys and values of an encoder's rows, for each layer of a decoder that attends to them.
struct CrossMemory {
  /// `encoded` is what the encoder's finish() gave.
  CrossMemory(const Model& decoder, MatrixView encoded);
  std::vector<Matrix> keys, values;
};

/// Borrows the model, and the cache if there is one; both must outlive it. Memory: about n x (3
/// width + queries + 2 keys + inner) floats, regardless of the number of layers.
class Forward {
 public:
  /// `hidden` is the output of Model::embed.
  Forward(const Model& model, Matrix hidden);
  /// Several inputs, one below the other: `lengths` are their numbers of tokens, which add up to
  /// the rows of `hidden`. Each attends to itself only. All rows go through one matrix product, so
  /// the weights are read once for all inputs, and each gets the same bytes as on its own.
  Forward(const Model& model, Matrix hidden, std::vector<int> lengths);
  /// The tokens follow those in the cache, which must have room for them. Each layer adds their
  /// keys and values as it runs; the last layer updates count.
  Forward(const Model& model, Matrix hidden, Cache& cache);
  /// Several texts that grow, one below the other: text k has the next lengths[k] rows, which
  /// follow the tokens in caches[k]. The same bytes for each as on its own.
  Forward(const Model& model, Matrix hidden, std::vector<int> lengths, std::vector<Cache*> caches);
  /// The same as for one cache, for a decoder beside an encoder. Borrows `source`.
  Forward(const Model& model, Matrix hidden, Cache& cache, const CrossMemory& source);

  /// The next layer to run, or the number of layers.
  int next() const { return next_; }
  /// Runs the next layer. A map in `fused` gets its attention, n x (tokens in the cache + n). If
  /// `sum` has rows, it gets the input of the block's last norm, or the block's output if there is
  /// no norm at its end.
  void step(const kernel::HeadMap& fused = {}, MatrixSpan sum = {}) {
    step_each(std::span(&fused, 1), sum);
  }
  /// Runs the next layer only as far as its queries and keys, which is all that rows of its map
  /// need. A step() goes on from there.
  void project();
  /// step() for a decoder beside an encoder; `across` gets the attention to the source.
  void step_across(const kernel::HeadMap& fused, const kernel::HeadMap& across);
  /// step() for several inputs, with a map for each, or none for any. `state`, if there is one,
  /// is filled, and must not move before the next step.
  void step_each(std::span<const kernel::HeadMap> fused, MatrixSpan sum = {},
                 LayerState* state = nullptr);
  /// Runs the last layer, but what follows its attention for these rows alone: the others are 0 in
  /// hidden() and `sum`, and undefined in the state, in all that follows attention.
  void step_rows(const std::vector<int>& rows, MatrixSpan sum, LayerState* state);
  /// Runs layer l on `input` only as far as `state` needs it, which leaves out the last product
  /// unless a norm follows it. hidden() is then undefined.
  void fill(int l, MatrixView input, LayerState& state);

  /// n x width, after the layers that ran.
  MatrixView hidden() const { return hidden_; }
  /// The same, moved out; call nothing else afterwards.
  Matrix take_hidden() { return std::move(hidden_); }
  /// Of the last layer run or projected, as used for its scores: n x (heads * size), n x (groups *
  /// size).
  MatrixView queries() const;
  MatrixView keys() const;

 private:
  MatrixView attention_input(const LayerWeights& layer) const;
  MatrixView attention_input(const LayerWeights& layer);
  void attend(const LayerWeights& layer, std::span<const kernel::HeadMap> fused);
  void run_to_activation(const LayerWeights& layer, std::span<const kernel::HeadMap> fused);
  void advance();
  void remember(Cache& cache, int position, kernel::Attention& attention) const;
  void attend_across(const LayerWeights& layer);

  const Model& model_;
  const Architecture& shape_;
  std::vector<Cache*> caches_;  // of each input, or none
  const CrossMemory* source_ = nullptr;
  kernel::HeadMap across_;
  int next_ = 0;
  bool projected_ = false;  // the next layer
  Segments inputs_;
  std::optional<Angles> angles_, window_angles_;
  Matrix hidden_;
  AfterAttention after_;
  Matrix entered_;  // the first block's input, if a convolution reads it
  LayerState own_;  // only what this needs itself
  LayerState* state_ = &own_;
  std::map<int, Matrix> distances_;  // by the number of keys
  PlaceScores places_;               // for one input; several have none
};

}  // namespace headwater
