#include "headwater/method/compare.h"

#include "cli/command.h"
#include "cli/options/method.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"

namespace headwater::cli {
namespace {

class CompareCommand : public Command {
 public:
  CompareCommand()
      : Command("compare", "Results side by side on one scale, and how well they agree",
                "headwater compare bert.npz --by discard -o sweep.svg") {}

  void declare(OptionList& options) override {
    typed_.declare(options);
    declare_layer(options, layer_);
    options
        .choice("--by", "WHAT", "What to compare: layer, evolution, discard, fuse, method or model",
                {"layer", "evolution", "discard", "fuse", "method", "model"}, by_)
        .required = "layer, evolution, discard, fuse, method or model";
    options.group("Source");
    options.text("OTHER", "PATH", "With --by model: the second model or file", other_);
  }

  void run() override {
    if (by_ == "model" && other_.empty())
      fail_usage(
          "compare: --by model was given one source, expected two; for example headwater compare "
          "bert/ roberta/ --by model --text \"...\"");
    if (by_ != "model" && !other_.empty())
      fail_usage("compare: was given two sources, expected one; --by model takes two");
    if (by_ == "model")
      run_models();
    else
      typed_.run([&](Source& source, const Options& options) -> Result {
        return compare(source, options);
      });
  }

 private:
  Comparison compare(Source& source, const Options& options) const {
    if (by_ == "layer") return compare_layer(source, options, layer_);
    if (by_ == "evolution") return compare_evolution(source, options);
    if (by_ == "discard") return compare_discard(source, options);
    if (by_ == "fuse") return compare_fuse(source, options);
    ProgressBar bar("pair");
    FlowOptions flow;
    flow.progress = [&](int64_t settled, int64_t pairs) { bar.show(settled, pairs); };
    return compare_method(source, options, flow);
  }

  // Each item of one source with the same item of the other.
  void run_models() const {
    std::unique_ptr<Batch> others;
    typed_.run([&](Source& source, const Options& options) -> Result {
      if (!others) others = typed_.source.open(other_);
      if (const int items = source.description().items; others->size() != items)
        fail("{}: has {} items, expected {} as {} has; give both the same input", other_,
             others->size(), items, typed_.source.name);
      WatchedSource other(others->item(source.description().item), progress_bars());
      return compare_model(source, other, options);
    });
  }

  MethodOptions typed_;
  std::string by_, other_;
  int layer_ = -1;
};

}  // namespace

std::unique_ptr<Command> compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace headwater::cli
