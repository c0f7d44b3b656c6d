#include "headwater/method/compare.h"

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/numbers.h"
#include "cli/options/method.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/method/compare_input.h"
#include "headwater/method/rollout.h"

namespace headwater::cli {
namespace {

class CompareCommand : public Command {
 public:
  CompareCommand()
      : Command("compare", "Results side by side on one scale, and how well they agree",
                "headwater compare bert.npz --by discard -o sweep.svg") {}

  void declare(OptionList& options) override {
    typed_.declare(options);
    typed_.declare_merge(options);
    options.integer("--layer", "K", "With --by layer: which one; -1 is the last (default)", layer_);
    options.choice("--by", "WHAT",
                   "What to compare: layer, evolution, discard, fuse, head, method, input (all "
                   "items of a batch, such as --text-file) or model (default with two sources)",
                   {"layer", "evolution", "discard", "fuse", "head", "method", "input", "model"},
                   by_);
    options.add("--values", "A,B,...",
                "With --by discard: the shares to compare (default: 0,0.1,0.3,0.5)",
                [this](const std::string& text) { values_ = parse_reals("--values", text); });
    declare_layers_shown(options, "With --by evolution: the layers to show (default: up to six)",
                         layers_shown_);
    options.group("Source");
    options.text("OTHER", "PATH", "With --by model: the second model or file", other_);
  }

  void run() override {
    if (by_.empty() && other_.empty())
      fail_usage(
          "compare: no --by was given, expected layer, evolution, discard, fuse, head, method, "
          "input or model; for example {}",
          example);
    if (by_.empty()) by_ = "model";
    if (by_ == "model" && other_.empty())
      fail_usage(
          "compare: --by model was given one source, expected two; for example headwater compare "
          "bert/ roberta/ --by model --text \"...\"");
    if (by_ != "model" && !other_.empty())
      fail_usage("compare: was given two sources, expected one; --by model takes two");
    refuse_unused();
    if (by_ == "model")
      run_models();
    else if (by_ == "input")
      run_inputs();
    else
      typed_.run([&](Source& source, const Options& options) -> Result {
        return compare(source, options);
      });
  }

 private:
  Comparison compare(Source& source, const Options& options) const {
    if (by_ == "layer") return compare_layer(source, options, layer_.value_or(-1));
    if (by_ == "evolution") return compare_evolution(source, options, layers_shown_);
    if (by_ == "discard")
      return values_.empty() ? compare_discard(source, options)
                             : compare_discard(source, options, values_);
    if (by_ == "fuse") return compare_fuse(source, options);
    if (by_ == "head") return compare_head(source, options);
    ProgressBar bar("pair");
    FlowOptions flow;
    flow.progress = [&](int64_t settled, int64_t pairs) { bar.show(settled, pairs); };
    return compare_method(source, options, flow);
  }

  void run_inputs() {
    const Options options = typed_.preparing.options();
    typed_.machine.apply();
    const Deliverer deliverer(typed_.output, typed_.filter.read());
    const std::unique_ptr<Batch> batch = typed_.source.open();
    typed_.source.all_items = true;
    std::vector<Attribution> results;
    for (Result& one : typed_.source.each_item(
             *batch, [&](Source& source) -> Result { return rollout(source, options); }))
      results.push_back(std::get<Attribution>(std::move(one)));
    deliverer.deliver(compare_input(std::move(results)));
  }

  // Each item of one source with the same item of the other.
  void run_models() {
    std::unique_ptr<Batch> others;
    typed_.run([&](Source& source, const Options& options) -> Result {
      if (!others) others = typed_.source.open(other_);
      if (const int items = source.description().items; others->size() != items)
        fail("{}: has {} items, expected {} as {} has; give both the same input", other_,
             others->size(), items, typed_.source.name);
      WatchedSource other(others->item(source.description().item), progress_bars());
      Comparison result = compare_model(source, other, options);
      if (Differentiable* model = other.differentiable())
        result.panels[1].prediction = model->prediction();
      return result;
    });
  }

  // What this comparison sets itself, or has no use for.
  void refuse_unused() const {
    const std::string by = "--by " + by_;
    const auto refuse = [&](bool given, const char* option, const char* needs) {
      if (given)
        fail_usage("{}: was given together with {}, expected {}; leave one out", option, by, needs);
    };
    refuse(layer_.has_value() && by_ != "layer", "--layer", "--by layer");
    refuse(!values_.empty() && by_ != "discard", "--values", "--by discard");
    refuse(!layers_shown_.empty() && by_ != "evolution", "--layers-shown", "--by evolution");
    const std::optional<Row>& row = typed_.preparing.row;
    if (by_ == "model" && row && row->kind == Row::Kind::word)
      fail_usage(
          "--row {}: rows of two models are pieces of the text that both share, expected a number; "
          "see the tokens of the result",
          row->text);
    refuse(!typed_.merge.empty() && by_ == "method", "--merge words",
           "no flow, whose values to the pieces of a word do not add up");
    refuse(!typed_.merge.empty() && by_ == "input", "--merge words",
           "no words, which may have other tokens in each input");
    refuse(typed_.source.item.has_value() && by_ == "input", "--item", "all items");
    if (by_ == "discard") typed_.preparing.refuse_discard(by);
    if (by_ == "fuse" || by_ == "head") typed_.preparing.refuse_fuse(by);
    if (by_ == "head") typed_.preparing.refuse_preparing(by);
  }

  MethodOptions typed_;
  std::string by_, other_;
  std::optional<int> layer_;
  std::vector<double> values_;
  std::vector<int> layers_shown_;
};

}  // namespace

std::unique_ptr<Command> compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace headwater::cli
