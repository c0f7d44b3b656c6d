// The seam between where attention comes from and what is done with it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/core/range.h"
#include "headwater/source/description.h"
#include "headwater/source/fuse.h"

namespace headwater {

class Differentiable;

/// Called with a layer's number and its fused n x n map. The map is scratch: the visitor may
/// overwrite it, and it dies when visit returns.
using Visit = std::function<void(int layer, MatrixSpan map)>;

/// Takes a layer's fused map in blocks of whole rows.
class RowVisitor {
 public:
  virtual ~RowVisitor() = default;
  /// Whether any of rows first ... first + count - 1 of `layer` is needed.
  virtual bool wants(int layer, int first, int count) = 0;
  /// Rows first ... of `layer`, scratch as in Visit. Blocks come in ascending order.
  virtual void take(int layer, int first, MatrixSpan rows) = 0;
};

/// One input's attention: a file, a model run on one text, arrays of a caller. It owns what it
/// reads, together with the other items of its batch, and may outlive the batch. For one thread at
/// a time, as are the items of one batch.
class Source {
 public:
  virtual ~Source() = default;
  virtual const Description& description() const = 0;
  /// Calls visit for the layers of `range` in `direction`, one after the other. Holds two n x n
  /// maps, whatever the numbers of layers and heads. Entries are finite and not negative. Throws
  /// Error, which names layer, head and row, where the attention is not attention, or where `fuse`
  /// names a head that is not there.
  virtual void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) = 0;
  /// The same in blocks of rows; a layer's unwanted blocks may be left out. A source that can make
  /// rows one by one needs no n x n map for this; the others hand out the whole map as one block.
  virtual void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor);
  /// The output of the model that the attention is from; null where there is no model.
  virtual Differentiable* differentiable() { return nullptr; }
  /// What was mended on the way, as sentences for the result's notes.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// Inputs that came together: the items of a batch in a file, or several texts for one model.
class Batch {
 public:
  virtual ~Batch() = default;
  /// What all items share: kind, name, layers, heads and, of a model, causal.
  virtual const Description& description() const = 0;
  virtual int size() const = 0;
  /// Item k, 0 <= k < size().
  virtual std::unique_ptr<Source> item(int k) = 0;
  /// How the arrays were read, in a line: "npz, 12 arrays, one a layer, axes B H n n, f32".
  virtual std::string reading() const = 0;
};

}  // namespace headwater
