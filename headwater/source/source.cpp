#include "headwater/source/source.h"

#include "headwater/core/fail.h"
#include "headwater/source/differentiable.h"

namespace headwater {

Differentiable& differentiable(Source& source) {
  if (Differentiable* output = source.differentiable()) return *output;
  fail(
      "{}: is only attention, expected a model, whose output can be followed; give a model "
      "directory and a text or an image",
      source.description().name);
}

void Source::rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) {
  layers(fuse, range, direction, [&](int layer, MatrixSpan map) {
    if (visitor.wants(layer, 0, map.rows())) visitor.take(layer, 0, map);
  });
}

}  // namespace headwater
