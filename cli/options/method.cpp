#include "cli/options/method.h"

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

void MethodOptions::run(const std::function<Result(Source&, const Options&)>& method) const {
  const Options options = preparing.options();
  machine.apply();
  const Deliverer deliverer(output, filter.read());
  const std::unique_ptr<Batch> batch = source.open();
  deliverer.deliver(source.each_item(*batch, [&](Source& item) { return method(item, options); }),
                    source.all_items);
}

void declare_layer(OptionList& options, int& layer) {
  options.group("Options");
  options.integer("--layer", "K", "Which layer; -1 is the last (default)", layer);
}

}  // namespace headwater::cli
