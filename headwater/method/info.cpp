#include "headwater/method/info.h"

#include <algorithm>

#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"

namespace headwater {

namespace {

Info describe(const Batch& batch, const Description& source) {
  Info info;
  info.source = source;
  info.reading = batch.reading();
  info.causal = source.causal.value_or(false);
  info.kernel = kernel::name();
  info.threads = threads();
  info.model = batch.facts();
  return info;
}

}  // namespace

Info info(const Batch& batch) { return describe(batch, batch.description()); }

Info info(const Batch& batch, Source& item) {
  Info info = describe(batch, item.description());
  info.notes = item.notes();
  if (info.source.causal) return info;
  item.layers(Fuse::mean, {0, 1}, Direction::up, [&](int, MatrixSpan map) {
    info.causal = map.rows() > 1;
    for (int i = 0; i < map.rows() && info.causal; ++i)
      info.causal = std::ranges::all_of(map.row(i).subspan(static_cast<size_t>(i) + 1),
                                        [](float value) { return value == 0; });
  });
  return info;
}

}  // namespace headwater
