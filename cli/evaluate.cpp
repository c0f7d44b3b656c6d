#include "headwater/method/evaluate/evaluate.h"

#include <algorithm>

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/options/machine.h"
#include "cli/options/output.h"
#include "cli/options/preparing.h"
#include "cli/options/source.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/evaluate_model.h"

namespace headwater::cli {
namespace {

class EvaluateCommand : public Command {
 public:
  EvaluateCommand()
      : Command("evaluate", "How well each method agrees with what the model's output depends on",
                "headwater evaluate verb-number --examples sentences.jsonl -o curves.svg") {}

  void declare(OptionList& options) override {
    declare_source(options, Takes::models, source_);
    options.group("Evaluation");
    options.text("--examples", "FILE",
                 "A .jsonl of examples, or a .txt of texts, one per line (see docs/evaluation.md); "
                 "default: the examples that come with the model",
                 what_.examples);
    options
        .add("--against", "WHAT",
             "How importance is measured: blank-out, gradient or both (default)",
             [this](const std::string& text) { what_.against = parse_against(text); })
        .words = {"blank-out", "gradient", "both"};
    options
        .add("--method", "A,B,...",
             "Only these methods: raw, rollout, flow, gradient, gradient-rollout, chefer, "
             "gradient-x-input, frozen, attnlrp, integrated (default: all)",
             [this](const std::string& text) { take_methods(text); })
        .several = true;
    filter_.declare_list(options,
                         "Tokens that do not count: special, punctuation, common or @FILE");
    options.integer("--limit", "N", "Only the first N examples", what_.limit);
    options.flag("--faithfulness", "Also comprehensiveness, sufficiency and perturbation area",
                 what_.faithfulness);
    declare_ignore_code(options, what_.ignore_code);
    machine_.declare(options);
    preparing_.declare(options);
    preparing_.declare_row(
        options, "Output token: a number, cls, last or mask (default: the one that decides)");
    output_.declare(options, ".json .npz .png .svg .pdf .html");
  }

  void run() override {
    for (const std::string& path : output_.paths)
      if (path.ends_with(".npy"))
        fail_usage("{}: evaluate gives several arrays, expected another ending; use .npz", path);
    what_.options = preparing_.options();
    what_.filter = filter_.read();
    machine_.apply();
    const Deliverer deliverer(output_, what_.filter);
    ProgressBar bar("example");
    what_.progress = [&](int64_t done, int64_t examples) { bar.show(done, examples); };
    deliverer.deliver(evaluate(source_, what_));
  }

 private:
  void take_methods(const std::string& text) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      what_.methods.push_back(text.substr(begin, end - begin));
      check_method(what_.methods.back());
      begin = end + 1;
    }
  }

  std::string source_;
  ModelEvaluation what_;
  FilterOptions filter_;
  MachineOptions machine_;
  PreparingOptions preparing_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> evaluate_command() { return std::make_unique<EvaluateCommand>(); }

}  // namespace headwater::cli
