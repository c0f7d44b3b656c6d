#include <fmt/format.h>

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/options/machine.h"
#include "headwater/core/fail.h"
#include "headwater/model/shipped.h"
#include "server/models.h"
#include "server/server.h"

namespace headwater::cli {
namespace {

constexpr int usual_port = 8020;

class ServeCommand : public Command {
 public:
  ServeCommand()
      : Command("serve", "A page to type texts into, in your browser",
                "headwater serve verb-number facts") {}

  void declare(OptionList& options) override {
    options.group("Source");
    Option& models =
        options.add("MODEL", "MODEL",
                    "Models that the page offers: folders, or names as in 'headwater models' "
                    "(default: those that ship)",
                    [this](const std::string& text) { names_.push_back(text); });
    models.several = models.names_models = true;
    options.group("Options");
    options.integer("--port", "N",
                    "The port on 127.0.0.1 (default: 8020, or any if that one is taken)", port_);
    machine_.declare(options);
  }

  void run() override {
    if (port_ && (*port_ < 0 || *port_ > 65535))
      fail_usage("--port {}: expected 1 to 65535, or 0 for any; choose another", *port_);
    machine_.apply();
    server::ServedModels models(names_.empty() ? shipped_models() : names_);
    server::Server server(
        models,
        {.port = port_.value_or(usual_port), .or_any_port = !port_, .stop_on_signals = true});
    print(fmt::format("Open {} in a browser. Ctrl-C ends the server.\n", server.url()));
    server.run();
  }

 private:
  std::vector<std::string> names_;
  std::optional<int> port_;
  MachineOptions machine_;
};

}  // namespace

std::unique_ptr<Command> serve_command() { return std::make_unique<ServeCommand>(); }

}  // namespace headwater::cli
