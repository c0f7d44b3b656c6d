// Rows of a layer's map, from the queries and keys that a pass left.
#pragma once
#include "headwater/model/model.h"
#include "headwater/source/fuse.h"

namespace headwater {

/// rows(r, j): the fused attention of token first + r to token j in `layer`. `queries` and `keys`
/// are those of all tokens of one input, as Forward gives them. The same bytes as in a forward
/// pass.
void put_map_rows(const Model& model, int layer, MatrixView queries, MatrixView keys,
                  const Fuse& fuse, int first, MatrixSpan rows);

}  // namespace headwater
