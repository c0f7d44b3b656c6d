#include "headwater/method/info.h"

#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/options/machine.h"
#include "cli/options/output.h"
#include "cli/options/source.h"
#include "headwater/core/fail.h"
#include "headwater/core/threads.h"
#include "headwater/core/version.h"
#include "headwater/kernel/kernel.h"
#include "headwater/model/hub_cache.h"
#include "headwater/model/shipped.h"
#include "headwater/output/terminal/table.h"
#include "headwater/result/add_prediction.h"

namespace headwater::cli {
namespace {

std::string about_this_machine() {
  const size_t cached = cached_model_folders().size();
  return table({{"version", version()},
                {"kernel", std::string(kernel::name())},
                {"threads", std::to_string(threads())},
                {"models", fmt::format("{}", fmt::join(shipped_models(), ", "))},
                {"cache", fmt::format("{} ({} model{})", one_line(hub_cache()), cached,
                                      cached == 1 ? "" : "s")}},
               {false, false});
}

class InfoCommand : public Command {
 public:
  InfoCommand()
      : Command("info",
                "What is in a source and how it is read; without one, what this machine runs",
                "headwater info bert.npz") {}

  void declare(OptionList& options) override {
    source_.declare(options, Takes::anything);
    options.make_optional("SOURCE");
    machine_.declare(options);
    output_.declare(options, ".json .npz .html", /*timed=*/false);
  }

  void run() override {
    machine_.apply();
    if (!source_.any_given() && output_.paths.empty()) {
      print(about_this_machine());
      return;
    }
    if (source_.name.empty())
      fail_usage(
          "info: no SOURCE was given, expected a file of attention or a model; for example "
          "headwater info bert.npz");
    const Deliverer deliverer(output_);
    const std::unique_ptr<Batch> batch = source_.open();
    if (batch->size() == 0) {  // a model without a text
      deliverer.deliver(info(*batch));
      return;
    }
    // All items look alike, so one is enough unless more are asked for.
    if (!source_.all_items && !source_.item) source_.item = 0;
    const auto method = [&](Source& source) {
      Result result = info(*batch, source);
      if (Differentiable* model = source.differentiable()) add_prediction(result, *model);
      return result;
    };
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
