#include "headwater/model/head_map.h"

#include "headwater/source/resolve_head.h"

namespace headwater {

kernel::HeadMap head_map(const Fuse& fuse, int heads, int layer, const std::string& name,
                         MatrixSpan map) {
  switch (fuse.kind) {
    case Fuse::Kind::mean:
      return {kernel::Reduce::sum, 1 / static_cast<float>(heads), 0, heads, map};
    case Fuse::Kind::max:
      return {kernel::Reduce::max, 1, 0, heads, map};
    case Fuse::Kind::min:
      return {kernel::Reduce::min, 1, 0, heads, map};
    case Fuse::Kind::head:
      return {kernel::Reduce::sum, 1, resolve_head(fuse, heads, layer, name), 1, map};
  }
  return {};
}

}  // namespace headwater
