#include "headwater/output/page/remarks.h"

#include <fmt/format.h>

#include <algorithm>

namespace headwater {

std::string remark_on_digits(const Document& packed) {
  if (!std::get<std::string>(packed.find("coding")->value).starts_with("root")) return "";
  return fmt::format(
      "Numbers on this page are within {:.1f} % of the largest of their row; .json and .npz hold "
      "them in full.",
      100.0 / static_cast<double>(std::get<int64_t>(packed.find("steps")->value)));
}

std::string why_fixed(const Attribution& result) {
  const Options& options = result.options;
  const char* what = result.method != "rollout"          ? result.method.c_str()
                     : options.discard > 0               ? "discard"
                     : options.preset == Preset::metrics ? "metrics"
                     : options.empty == Empty::zero      ? "empty zero"
                                                         : nullptr;
  return what ? fmt::format("the page cannot recompute {}", what) : "";
}

std::string how_to_get_layers(const Document& contents, std::string_view command) {
  const auto can = [&](std::string_view method) {
    return command.starts_with(fmt::format("headwater {} ", method));
  };
  const bool has =
      std::ranges::any_of(std::initializer_list<std::string_view>{"maps", "by_layer", "cut"},
                          [&](std::string_view name) { return contents.find(name) != nullptr; });
  if (has || !(can("rollout") || can("average") || can("flow"))) return "";
  return "--embed-layers adds all layers to the page.";
}

}  // namespace headwater
