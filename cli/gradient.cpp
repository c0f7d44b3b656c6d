#include "headwater/method/gradient.h"

#include "cli/command.h"
#include "cli/options/method.h"
#include "cli/options/target.h"
#include "headwater/core/fail.h"

namespace headwater::cli {
namespace {

class GradientCommand : public Command {
 public:
  GradientCommand()
      : Command("gradient", "Gradient x attention: which attention a logit depends on",
                "headwater gradient verb-number --text \"The keys\" --target plural --rule "
                "chefer") {}

  void declare(OptionList& options) override {
    typed_.declare(
        options, Takes::models,
        "Output token: a number, cls, last, mask, mean or all (default: the target's), several "
        "(3,4), or a word of the text");
    typed_.declare_merge(options);
    options.integer("--layer", "K", "One layer alone; -1 is the last", layer_);
    options
        .add("--rule", "RULE", "gradient (default), gradient-rollout or chefer",
             [this](const std::string& text) { what_.rule = parse_gradient_rule(text); })
        .words = {"gradient", "gradient-rollout", "chefer"};
    declare_target(options, what_.target, what_.against);
    typed_.source.declare_other(options);
  }

  void run() override {
    if (layer_ && typed_.preparing.layers)
      fail_usage("--layer: was given together with --layers, expected one of them; leave one out");
    if (layer_) typed_.preparing.layers = one_layer(*layer_);
    what_.only_target_row = !typed_.preparing.row;
    typed_.run([&](Source& source, const Options& options) -> Result {
      return gradient(source, options, what_);
    });
  }

 private:
  MethodOptions typed_;
  GradientOptions what_;
  std::optional<int> layer_;
};

}  // namespace

std::unique_ptr<Command> gradient_command() { return std::make_unique<GradientCommand>(); }

}  // namespace headwater::cli
