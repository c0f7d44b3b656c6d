#include "headwater/method/info.h"

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/options/machine.h"
#include "cli/options/output.h"
#include "cli/options/source.h"

namespace headwater::cli {
namespace {

class InfoCommand : public Command {
 public:
  InfoCommand()
      : Command("info", "What is in a source, how it is read, and which kernel runs",
                "headwater info bert.npz") {}

  void declare(OptionList& options) override {
    source_.declare(options, Takes::anything);
    machine_.declare(options);
    output_.declare(options, ".json .npz .html");
  }

  void run() override {
    machine_.apply();
    const Deliverer deliverer(output_);
    const std::unique_ptr<Batch> batch = source_.open();
    if (batch->size() == 0) {  // a model without a text
      deliverer.deliver(info(*batch));
      return;
    }
    // All items look alike, so one is enough unless more are asked for.
    if (!source_.all_items && !source_.item) source_.item = 0;
    const auto method = [&](Source& source) -> Result { return info(*batch, source); };
    deliverer.deliver(source_.each_item(*batch, method), source_.all_items);
  }

 private:
  SourceOptions source_;
  MachineOptions machine_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> info_command() { return std::make_unique<InfoCommand>(); }

}  // namespace headwater::cli
