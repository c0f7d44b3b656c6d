#include "headwater/source/source.h"

namespace headwater {

void Source::rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) {
  layers(fuse, range, direction, [&](int layer, MatrixSpan map) {
    if (visitor.wants(layer, 0, map.rows())) visitor.take(layer, 0, map);
  });
}

}  // namespace headwater
