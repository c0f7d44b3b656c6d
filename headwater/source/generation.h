// A text that grows: the seam between a model that writes and what is done with its attention.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/source/source.h"

namespace headwater {

class Generation {
 public:
  virtual ~Generation() = default;
  /// What the text begins with: its tokens and ids, none of which has been read yet.
  virtual const Description& prompt() const = 0;
  /// The tokens that are known to follow; none where the model is to choose them.
  virtual const std::vector<int>& continuation() const = 0;

  /// Makes room for `more` tokens after the prompt, before anything is read. Throws Error if the
  /// model has no positions for so many.
  virtual void reserve(int more) = 0;
  /// Reads `ids` after those read so far, and calls visit(layer, rows) for the layers from below:
  /// their fused attention, ids.size() x (tokens read, these included), scratch as in Visit. No
  /// visit at all if `visit` is empty. Throws Error where the room is used up.
  virtual void read(std::span<const int> ids, Fuse fuse, const Visit& visit) = 0;

  /// Of each word of the vocabulary as the token after the last one read.
  virtual std::span<const float> logits() const = 0;
  /// Whether the model means by `id` that the text is over.
  virtual bool ends(int id) const = 0;
  virtual std::string token(int id) const = 0;
  /// The text that tokens stand for.
  virtual std::string text(std::span<const int> ids) const = 0;
};

}  // namespace headwater
