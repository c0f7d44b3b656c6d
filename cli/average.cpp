#include "headwater/method/average.h"

#include "cli/command.h"
#include "cli/options/method.h"

namespace headwater::cli {
namespace {

class AverageCommand : public Command {
 public:
  AverageCommand()
      : Command("average", "The mean of the prepared attention over the layers",
                "headwater average bert.npz --row 0 -o -") {}

  void declare(OptionList& options) override {
    typed_.declare(options);
    typed_.declare_embed_layers(options);
    typed_.declare_merge(options);
  }

  void run() override {
    typed_.run(
        [](Source& source, const Options& options) -> Result { return average(source, options); });
  }

 private:
  MethodOptions typed_;
};

}  // namespace

std::unique_ptr<Command> average_command() { return std::make_unique<AverageCommand>(); }

}  // namespace headwater::cli
