#include "headwater/source/source.h"

#include "headwater/core/fail.h"
#include "headwater/source/differentiable.h"

namespace headwater {

Differentiable& differentiable(Source& source) {
  if (Differentiable* output = source.differentiable()) return *output;
  fail(
      "{}: has only attention, expected a model with an output to explain; give a model "
      "directory and a text or an image",
      source.description().name);
}

std::vector<Outcome> Differentiable::outcomes(const Logit& logit,
                                              std::span<const std::vector<int>> blanked) {
  std::vector<Outcome> out;
  for (const std::vector<int>& tokens : blanked) out.push_back(outcome(logit, tokens));
  return out;
}

void Source::rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) {
  layers(fuse, range, direction, [&](int layer, MatrixSpan map) {
    if (visitor.wants(layer, 0, map.rows())) visitor.take(layer, 0, map);
  });
}

std::vector<std::unique_ptr<Source>> Batch::together(std::span<const int> items) {
  std::vector<std::unique_ptr<Source>> out;
  for (const int k : items) out.push_back(item(k));
  return out;
}

}  // namespace headwater
