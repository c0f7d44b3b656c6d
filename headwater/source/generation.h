// Text generation: the interface between a model that writes and what uses its attention.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/source/relevance.h"
#include "headwater/source/source.h"

namespace headwater {

/// The relevance of a text's tokens for some that were generated.
struct SpanRelevance {
  double output = 0;  // the sum of their logits or log-probabilities
  /// What frozen's values and biases sum to: the output for logits. for log-probabilities, each
  /// word's logit minus the mean of all logits, weighted by their probabilities.
  double explained = 0;
  std::vector<float> input;  // of each token before the last of them
  double rest = 0;           // what biases take
};

class Generation;

/// What a text reads next, and who is shown its attention, as in Generation::read().
struct Reading {
  Generation* text = nullptr;
  std::span<const int> ids;
  Visit visit, across;
};

class Generation {
 public:
  virtual ~Generation() = default;
  /// The tokens and ids that the text starts with; none of them has been read yet.
  virtual const Description& prompt() const = 0;
  /// What an encoder reads beside it; null if the model has none.
  virtual const Description* source() const { return nullptr; }
  /// Runs the encoder, once, before any read. Calls visit(layer, map) with its fused attention,
  /// n x n, as read() does.
  virtual void read_source(Fuse, const Visit&) {}
  /// The known tokens after the prompt; empty if the model is to choose them.
  virtual const std::vector<int>& continuation() const = 0;

  /// Makes room for `more` tokens after the prompt. Call it before any read. Throws Error if the
  /// model does not have that many positions.
  virtual void reserve(int more) = 0;
  /// Reads `ids` after those read so far. Calls visit(layer, rows) from the lowest layer up with
  /// the fused attention, ids.size() x (tokens read, including these), which visit may overwrite.
  /// Makes no calls if `visit` is empty. If there is a source, `across` is called after it with the
  /// attention to the source, ids.size() x n. Throws Error if there is no room left.
  virtual void read(std::span<const int> ids, Fuse fuse, const Visit& visit,
                    const Visit& across) = 0;
  /// read() for several texts, including this one. Texts of one model, if they are no sources, go
  /// through one matrix product, so the weights are read once for all; the same bytes as one by
  /// one. Visitors of different texts are called at the same time. Each text comes once.
  virtual void read_together(std::span<const Reading> all, Fuse fuse) {
    for (const Reading& one : all) one.text->read(one.ids, fuse, one.visit, one.across);
  }

  /// For each span of `generated`, the tokens after the prompt: the relevance of the tokens before
  /// its end for the sum of its logits or log-probabilities. Reads the whole text once more,
  /// whatever was read before. `rule` is frozen or attnlrp.
  virtual std::vector<SpanRelevance> relevance(std::span<const int> generated,
                                               std::span<const Range> spans, RelevanceRule rule,
                                               WordScore score) = 0;

  /// The logit of each word of the vocabulary as the next token.
  virtual std::span<const float> logits() const = 0;
  /// Whether `id` ends the text.
  virtual bool ends(int id) const = 0;
  virtual std::string token(int id) const = 0;
  /// What was ignored or assumed, as sentences for the result's notes.
  virtual std::vector<std::string> notes() const { return {}; }
  /// The text of these tokens.
  virtual std::string text(std::span<const int> ids) const = 0;
};

}  // namespace headwater
