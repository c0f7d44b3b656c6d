#include "headwater/method/metrics.h"

#include "cli/command.h"
#include "cli/options/method.h"
#include "headwater/result/add_prediction.h"

namespace headwater::cli {
namespace {

class MetricsCommand : public Command {
 public:
  MetricsCommand()
      : Command("metrics", "Eight numbers about a batch: entropies, concentration, maxima",
                "headwater metrics batch.npz --layer -1 -o metrics.json") {
    preparing_.preset = Preset::metrics;
  }

  void declare(OptionList& options) override {
    source_.declare(options, Takes::anything);
    machine_.declare(options);
    preparing_.declare(options);
    output_.declare(options, ".json .npz .html");
    declare_layer(options, layer_);
  }

  void run() override {
    const Options options = preparing_.options();
    machine_.apply();
    const Deliverer deliverer(output_);
    const std::unique_ptr<Batch> batch = source_.open();
    if (!source_.item && !source_.all_items && batch->size() != 1) {
      // The metrics of a batch are those of all its items together.
      deliverer.deliver(metrics(*batch, options, layer_));
      return;
    }
    const auto method = [&](Source& source) {
      Result result = metrics(source, options, layer_);
      if (Differentiable* model = source.differentiable()) add_prediction(result, *model);
      return result;
    };
    deliverer.deliver(source_.each_item(*batch, method), source_.all_items);
  }

 private:
  SourceOptions source_;
  MachineOptions machine_;
  PreparingOptions preparing_;
  OutputOptions output_;
  int layer_ = -1;
};

}  // namespace

std::unique_ptr<Command> metrics_command() { return std::make_unique<MetricsCommand>(); }

}  // namespace headwater::cli
