#include "headwater/method/relevance.h"

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/options/machine.h"
#include "cli/options/method.h"
#include "cli/options/output.h"
#include "cli/options/preparing.h"
#include "cli/options/source.h"
#include "cli/options/target.h"
#include "headwater/core/fail.h"
#include "headwater/result/add_prediction.h"
#include "headwater/result/words.h"

namespace headwater::cli {
namespace {

class RelevanceCommand : public Command {
 public:
  RelevanceCommand()
      : Command("relevance", "Which input tokens a logit comes from, for and against",
                "headwater relevance facts --prompt \"Anna moved the red hat to the box. Where is "
                "the red hat? Answer:\"") {}

  void declare(OptionList& options) override {
    source_.declare(options, Takes::models);
    machine_.declare(options);
    options.group("Options");
    options
        .add("--rule", "RULE",
             "frozen (default: attention weights are constants), attnlrp (relevance also passes "
             "through queries and keys) or integrated (integrated gradients)",
             [this](const std::string& text) { what_.rule = parse_relevance_rule(text); })
        .words = {"frozen", "attnlrp", "integrated"};
    declare_row(
        options,
        "The token to ask about, in models with logits for every token: a number, cls, last, "
        "mask or a word of the text (default: the mask, or the last)",
        row_);
    options.flag("--by-layer", "Also the relevance of each token after each layer", what_.by_layer);
    options.flag("--heads", "Also the share of each head", what_.heads);
    options.integer("--edges", "K",
                    "Also the edges of layer K: what each of its output tokens took from each "
                    "input token; -1 is the last layer",
                    what_.edges);
    options.integer("--steps", "N", "With --rule integrated: the number of steps (default: 20)",
                    what_.steps);
    options.text("--baseline", "B",
                 "With --rule integrated: what each token is replaced by at the start: mask "
                 "(default), zero or a word; an image starts from its mean colour, zero",
                 what_.baseline);
    declare_target(options, what_.target, what_.against);
    source_.declare_other(options);
    output_.declare(options, all_endings);
    declare_merge(options, merge_);
    filter_.declare_list(options,
                         "Leave tokens out of what is shown: special, punctuation, common "
                         "or @FILE");
  }

  void run() override {
    if (what_.heads || what_.edges)
      for (const std::string& path : output_.paths)
        if (path.ends_with(".npy"))
          fail_usage(
              "{}: --heads and --edges give several arrays, expected another ending; use .npz",
              path);
    machine_.apply();
    const Deliverer deliverer(output_, filter_.read());
    const std::unique_ptr<Batch> batch = source_.open();
    deliverer.deliver(source_.each_item(*batch,
                                        [&](Source& item) -> Result {
                                          RelevanceOptions what = what_;
                                          if (row_) what.row = *row_;
                                          Attribution found = relevance(item, what);
                                          Result result = merge_.empty()
                                                              ? std::move(found)
                                                              : merge_words(std::move(found));
                                          if (Differentiable* model = item.differentiable())
                                            add_prediction(result, *model);
                                          return result;
                                        }),
                      source_.all_items);
  }

 private:
  SourceOptions source_;
  MachineOptions machine_;
  RelevanceOptions what_;
  std::optional<Row> row_;
  OutputOptions output_;
  FilterOptions filter_;
  std::string merge_;
};

}  // namespace

std::unique_ptr<Command> relevance_command() { return std::make_unique<RelevanceCommand>(); }

}  // namespace headwater::cli
