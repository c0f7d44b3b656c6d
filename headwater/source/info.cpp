#include "headwater/source/info.h"

#include <algorithm>

#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"

namespace headwater {

Info info(const Batch& batch, Source& item) {
  Info info;
  info.source = item.example();
  info.reading = batch.reading();
  info.kernel = kernel::name();
  info.threads = threads();
  if (info.source.causal) {
    info.causal = *info.source.causal;
    return info;
  }
  item.layers(Fuse::mean, {0, 1}, Direction::up, [&](int, MatrixSpan map) {
    info.causal = map.rows() > 1;
    for (int i = 0; i < map.rows() && info.causal; ++i)
      info.causal = std::ranges::all_of(map.row(i).subspan(static_cast<size_t>(i) + 1),
                                        [](float value) { return value == 0; });
  });
  return info;
}

}  // namespace headwater
