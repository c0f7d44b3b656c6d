// The seam between where attention comes from and what is done with it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/core/range.h"
#include "headwater/source/fuse.h"
#include "headwater/source/gradient.h"
#include "headwater/source/picture.h"

namespace headwater {

/// Where a token stands in the text that it came from.
struct TokenPlace {
  int text = 0;               // 0 the text, 1 its pair, -1 none: a special token that was added
  size_t begin = 0, end = 0;  // bytes, half open
  bool operator==(const TokenPlace&) const = default;
};

/// What a source says of itself.
struct Example {
  std::string kind;                 // "file", "memory", "model"
  std::string name;                 // as the caller named it
  std::vector<std::string> tokens;  // n of them, padding already cropped
  int layers = 0;
  std::vector<int> heads;          // of each layer
  int item = 0;                    // which of the batch this is, and
  int items = 1;                   // how many the batch has
  int padded = 0;                  // the length before padding was cropped; n where there was none
  std::optional<Picture> picture;  // of a vision model, whose tokens are patches; else none
  std::optional<bool> causal;      // whether a model looks back only; none: not known
  std::vector<int> ids;            // of a model's tokens, else none
  std::vector<TokenPlace> places;  // of a model's tokens in its text, else none
};

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

/// One input's attention: a file, a model run on one text, arrays of a caller.
class Source {
 public:
  virtual ~Source() = default;
  virtual const Example& example() const = 0;
  /// Calls visit for the layers of `range` in `direction`, one after the other. Holds two n x n
  /// maps, whatever the numbers of layers and heads. Entries are finite and not negative. Throws
  /// Error, which names layer, head and row, where the attention is not attention, or where `fuse`
  /// names a head that is not there.
  virtual void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) = 0;
  /// The same in blocks of rows; a layer's unwanted blocks may be left out. A source that can make
  /// rows one by one needs no n x n map for this; the others hand out the whole map as one block.
  virtual void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor);
  /// Differentiates a logit and calls visit for the layers of request.range, from the top down,
  /// with the positive part of attention (x) its gradient, heads joined by request.fuse: n x n,
  /// not negative. Only models can: the others throw Error, as do models without a head, and a
  /// target that is not there.
  virtual GradientAnswer gradients(const GradientRequest& request, const Visit& visit);
  /// The logit as gradients() found it, with the tokens of `blanked` blanked out: in a text each
  /// becomes the mask token, or the unknown token where the vocabulary has no mask; in an image the
  /// patch becomes the mean colour (0 after normalisation). One forward pass. Only models can: the
  /// others throw Error, as do models with neither token, and for a token of no place in the image.
  virtual Outcome outcome(const Logit& logit, std::span<const int> blanked);
  /// What was mended on the way, as sentences for the result's notes.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// Inputs that came together: the items of a batch in a file.
class Batch {
 public:
  virtual ~Batch() = default;
  virtual int size() const = 0;
  /// Item k, 0 <= k < size(). It borrows from the batch, which must outlive it.
  virtual std::unique_ptr<Source> item(int k) = 0;
  /// How the arrays were read, in a line: "npz, 12 arrays, one a layer, axes B H n n, f32".
  virtual std::string reading() const = 0;
};

}  // namespace headwater
