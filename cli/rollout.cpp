#include "headwater/method/rollout.h"

#include "cli/command.h"
#include "cli/options/method.h"
#include "headwater/core/fail.h"
#include "headwater/method/compare.h"

namespace headwater::cli {
namespace {

class RolloutCommand : public Command {
 public:
  RolloutCommand()
      : Command("rollout", "Attention rollout: what each output token is made of, over all layers",
                "headwater rollout bert.npz --row cls -o cls.svg") {}

  void declare(OptionList& options) override {
    typed_.declare(options);
    typed_.declare_embed_layers(options);
    options.flag("--by-layer", "Also the rollout up to each layer", by_layer_);
    declare_layers_shown(options, "With --by-layer: only up to these layers, such as 0,5,-1",
                         layers_shown_);
  }

  void run() override {
    if (!layers_shown_.empty() && !by_layer_)
      fail_usage("--layers-shown: was given without --by-layer, expected both; add it");
    typed_.run([&](Source& source, const Options& options) -> Result {
      if (!layers_shown_.empty())
        return rollout_up_to(source, options, chosen_layers(source, options, layers_shown_));
      return by_layer_ ? rollout_by_layer(source, options) : rollout(source, options);
    });
  }

 private:
  MethodOptions typed_;
  bool by_layer_ = false;
  std::vector<int> layers_shown_;
};

}  // namespace

std::unique_ptr<Command> rollout_command() { return std::make_unique<RolloutCommand>(); }

}  // namespace headwater::cli
