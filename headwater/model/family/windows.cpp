#include "headwater/model/family/windows.h"

#include "headwater/core/fail.h"

namespace headwater::family {

std::vector<int> windows_by_type(const Config& config, int layers, int window) {
  if (!config.has("layer_types")) return {};
  std::vector<int> windows(static_cast<size_t>(layers));
  const std::vector<std::string> types = config.texts("layer_types");
  if (types.size() != windows.size())
    fail("{}: layer_types has {} entries, expected one for each of {} layers; check the file",
         config.name(), types.size(), layers);
  for (size_t l = 0; l < types.size(); ++l) {
    if (types[l] != "full_attention" && types[l] != "sliding_attention")
      fail(
          "{}: layer_types has '{}', expected full_attention or sliding_attention; use another "
          "model",
          config.name(), types[l]);
    if (types[l] != "sliding_attention") continue;
    if (window == 0)
      fail("{}: layer {} is sliding_attention, expected a sliding_window for it; check the file",
           config.name(), l);
    windows[l] = window;
  }
  return windows;
}

}  // namespace headwater::family
