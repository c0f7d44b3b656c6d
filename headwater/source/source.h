// The interface between where attention comes from and what uses it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/core/range.h"
#include "headwater/source/description.h"
#include "headwater/source/fuse.h"

namespace headwater {

class Differentiable;

/// Called with a layer's number and its fused n x n map. The visitor may overwrite the map, which
/// is valid only until visit returns.
using Visit = std::function<void(int layer, MatrixSpan map)>;

/// Receives a layer's fused map in blocks of whole rows.
class RowVisitor {
 public:
  virtual ~RowVisitor() = default;
  /// Whether any of rows first ... first + count - 1 of `layer` is needed.
  virtual bool wants(int layer, int first, int count) = 0;
  /// Rows of `layer` from `first` on, which may be overwritten as in Visit. Blocks come in
  /// ascending order.
  virtual void take(int layer, int first, MatrixSpan rows) = 0;
};

/// The attention for one input: from a file, a model run on one text, or a caller's arrays. It
/// shares ownership of what it reads with the other items of its batch, and may outlive the batch.
/// All items of a batch together are for one thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  virtual const Description& description() const = 0;
  /// Calls visit for the layers of `range` in `direction`, one at a time. Holds two n x n maps,
  /// regardless of the number of layers and heads. Entries are finite and not negative. Throws
  /// Error, which names layer, head and row, for values that are not attention, and if the head of
  /// `fuse` does not exist.
  virtual void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) = 0;
  /// The same in blocks of rows; blocks that are not wanted may be skipped. A source that can
  /// compute single rows needs no n x n map for this; others pass the whole map as one block.
  virtual void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor);
  /// The output of the model behind the attention; null if there is none.
  virtual Differentiable* differentiable() { return nullptr; }
  /// What was repaired along the way, as sentences for the result's notes.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// Inputs that belong together: the items of a batch in a file, or several texts for one model.
class Batch {
 public:
  virtual ~Batch() = default;
  /// What all items share: kind, name, layers, heads and, for a model, causal.
  virtual const Description& description() const = 0;
  virtual int size() const = 0;
  /// Item k, 0 <= k < size().
  virtual std::unique_ptr<Source> item(int k) = 0;
  /// The items in this order, to be asked the same question one after the other. A model runs
  /// several of them at once when the first is asked; the results are the same bytes as from
  /// item(k). Destroy each when it is done, to free the memory of its results.
  virtual std::vector<std::unique_ptr<Source>> together(std::span<const int> items);
  /// How the arrays were read, in one line: "npz, 12 arrays, one a layer, axes B H n n, f32".
  virtual std::string reading() const = 0;
  /// None if there is no model.
  virtual std::optional<ModelFacts> facts() const { return {}; }
};

}  // namespace headwater
