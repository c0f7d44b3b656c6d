#include "cli/command.h"
#include "cli/options/method.h"
#include "headwater/method/average.h"

namespace headwater::cli {
namespace {

class RawCommand : public Command {
 public:
  RawCommand()
      : Command("raw", "One layer's attention unchanged: one head, or heads fused",
                "headwater raw bert.npz --layer 3 --head 5 -o layer3.png") {}

  void declare(OptionList& options) override {
    typed_.declare(options);
    typed_.declare_merge(options);
    declare_layer(options, layer_);
    for (const char* refused :
         {"--preset", "--residual", "--discard", "--order", "--empty", "--divide", "--layers"})
      options.hide(refused);
  }

  void run() override {
    typed_.preparing.refuse_all_but_fuse("raw");
    typed_.run([&](Source& source, const Options& options) -> Result {
      return raw(source, layer_, options);
    });
  }

 private:
  MethodOptions typed_;
  int layer_ = -1;
};

}  // namespace

std::unique_ptr<Command> raw_command() { return std::make_unique<RawCommand>(); }

}  // namespace headwater::cli
