#include "cli/options/method.h"

#include <algorithm>

#include "cli/numbers.h"
#include "headwater/core/fail.h"
#include "headwater/method/compare.h"
#include "headwater/method/layer_maps.h"
#include "headwater/result/add_prediction.h"
#include "headwater/result/words.h"

namespace headwater::cli {

void MethodOptions::declare(OptionList& options, Takes what, const char* row) {
  source.declare(options, what);
  machine.declare(options);
  preparing.declare(options);
  preparing.declare_row(options, row);
  output.declare(options, all_endings);
  filter.declare(options);
  options.group("Options");  // those that the command adds
}

void MethodOptions::run(const std::function<Result(Source&, const Options&)>& method) {
  if (embed_layers && std::ranges::none_of(output.paths, [](const std::string& path) {
        return path.ends_with(".html");
      }))
    fail_usage(
        "--embed-layers: no page is written, expected one that holds the layers; add -o x.html");
  if (embed_layers && !merge.empty())
    fail_usage(
        "--embed-layers: was given together with --merge, expected one of them: its layers have "
        "tokens; leave one out");
  preparing.options();  // fails before any work
  machine.apply();
  const Deliverer deliverer(output, filter.read());
  const std::unique_ptr<Batch> batch = source.open();
  const auto one = [&](Source& item) {
    Result result = method(item, preparing.options());
    auto* attribution = std::get_if<Attribution>(&result);
    if (Differentiable* model = item.differentiable()) add_prediction(result, *model);
    if (embed_layers && attribution) attribution->maps = maps_of(item, *attribution);
    if (!merge.empty() && attribution) *attribution = merge_words(std::move(*attribution));
    if (auto* comparison = std::get_if<Comparison>(&result); !merge.empty() && comparison)
      *comparison = merge_words(std::move(*comparison));
    return result;
  };
  deliverer.deliver(source.each_item(*batch, one), source.all_items);
}

void MethodOptions::declare_merge(OptionList& options) {
  cli::declare_merge(options, merge);
  options.group("Options");
}

void MethodOptions::declare_embed_layers(OptionList& options) {
  options.group("Output");
  options.flag("--embed-layers",
               "Put every layer's map into a page (.html), to change layers and residual there",
               embed_layers);
  options.group("Options");
}

void declare_layers_shown(OptionList& options, const char* about, std::vector<int>& layers) {
  options.group("Options");
  options.add("--layers-shown", "A,B,...", about, [&layers](const std::string& text) {
    layers = parse_integers("--layers-shown", text);
  });
}

void declare_layer(OptionList& options, int& layer) {
  options.group("Options");
  options.integer("--layer", "K", "Which layer; -1 is the last (default)", layer);
}

}  // namespace headwater::cli
