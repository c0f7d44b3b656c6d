#include "headwater/method/rollout.h"

#include "cli/command.h"
#include "cli/options/method.h"

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
    typed_.declare_merge(options);
    options.flag("--by-layer", "Also the rollout up to each layer", by_layer_);
  }

  void run() override {
    typed_.run([&](Source& source, const Options& options) -> Result {
      return by_layer_ ? rollout_by_layer(source, options) : rollout(source, options);
    });
  }

 private:
  MethodOptions typed_;
  bool by_layer_ = false;
};

}  // namespace

std::unique_ptr<Command> rollout_command() { return std::make_unique<RolloutCommand>(); }

}  // namespace headwater::cli
