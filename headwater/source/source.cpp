#include "headwater/source/source.h"

#include "headwater/core/fail.h"

namespace headwater {

GradientAnswer Source::gradients(const GradientRequest&, const Visit&) {
  fail(
      "{}: holds attention alone, expected a model, which gradients need; give a model directory "
      "and a text or an image",
      example().name);
}

Outcome Source::outcome(const Logit&, std::span<const int>) {
  fail(
      "{}: holds attention alone, expected a model, which has an output to watch; give a model "
      "directory and a text or an image",
      example().name);
}

void Source::rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) {
  layers(fuse, range, direction, [&](int layer, MatrixSpan map) {
    if (visitor.wants(layer, 0, map.rows())) visitor.take(layer, 0, map);
  });
}

}  // namespace headwater
