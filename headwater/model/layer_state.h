// What the forward pass of one block saves for its derivative.
#pragma once
#include <cstddef>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/model/architecture.h"

namespace headwater {

/// A row for each token. Parts that the architecture does not have are empty.
struct LayerState {
  LayerState() = default;
  LayerState(const Architecture& model, int n) { fit(model, n); }

  /// Makes room for n rows, and reuses the memory if it is large enough. The numbers are undefined
  /// until a forward pass fills them in.
  void fit(const Architecture& model, int n);

  /// These rows of what follows attention: middle, up, gate, attended and added. And back.
  LayerState some_rows(const std::vector<int>& rows) const;
  void put_back(const LayerState& some, const std::vector<int>& rows);

  /// The bytes of one row in all of the matrices.
  static size_t row_bytes(const Architecture& model);

  Matrix before;           // queries, keys and values before place(), if that norms them
  Matrix projected;        // after it
  Matrix mixed;            // the heads' outputs
  Matrix middle;           // what the feed-forward half starts from, before any norm
  Matrix up, gate;         // before the activation
  Matrix attended, added;  // what the halves add, before their norms, if there are any
};

/// Copies values to a part, if it has rows: a state without it does not need them.
void keep(MatrixView values, MatrixSpan part);

}  // namespace headwater
