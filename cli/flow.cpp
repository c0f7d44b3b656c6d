#include "headwater/method/flow/flow.h"

#include "cli/command.h"
#include "cli/options/method.h"
#include "cli/progress.h"

namespace headwater::cli {
namespace {

class FlowCommand : public Command {
 public:
  FlowCommand()
      : Command("flow", "Attention flow: the exact maximum flow to each input token",
                "headwater flow bert.npz --row cls --layers 0:3") {}

  void declare(OptionList& options) override {
    typed_.declare(options);
    typed_.declare_embed_layers(options);
    options.integer("--column", "J", "The flow to one input token; -1 is the last", flow_.column);
    options.flag("--by-layer", "Also the flow from each layer, not only from the top",
                 flow_.every_layer);
    options.flag("--every-layer", "The same as --by-layer", flow_.every_layer);
    options.hide("--every-layer");
    options.flag("--normalise", "Divide rows by their sums", flow_.normalise);
    options.flag("--certify", "Check every value again, by a flow and a bound that both equal it",
                 flow_.certify);
    options.flag("--cut", "With one --row and --column: also the weights that limit the flow",
                 flow_.cut);
  }

  void run() override {
    typed_.run([&](Source& source, const Options& options) -> Result {
      ProgressBar bar("pair");
      FlowOptions how = flow_;
      how.progress = [&](int64_t settled, int64_t pairs) { bar.show(settled, pairs); };
      return flow(source, options, how);
    });
  }

 private:
  MethodOptions typed_;
  FlowOptions flow_;
};

}  // namespace

std::unique_ptr<Command> flow_command() { return std::make_unique<FlowCommand>(); }

}  // namespace headwater::cli
