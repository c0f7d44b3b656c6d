#include "headwater/method/generate.h"

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/numbers.h"
#include "cli/options/machine.h"
#include "cli/options/output.h"
#include "cli/options/preparing.h"
#include "cli/options/source.h"
#include "headwater/core/fail.h"
#include "headwater/layer/resolve.h"
#include "headwater/open.h"
#include "headwater/result/generated_words.h"

namespace headwater::cli {
namespace {

class GenerateCommand : public Command {
 public:
  GenerateCommand()
      : Command("generate", "Generate text, and show which prompt tokens each new token depends on",
                "headwater generate facts --prompt \"Anna took the key to the box. Ben went to the "
                "cave. Where is the key? Answer:\"") {}

  void declare(OptionList& options) override {
    declare_source(options, Takes::models, source_, "facts, recall");
    declare_input(options);
    declare_choosing(options);
    machine_.declare(options);
    preparing_.declare(options);
    for (const char* refused : {"--preset", "--discard", "--order"}) options.hide(refused);
    output_.declare(options, all_endings);
    filter_.declare(options);
    declare_merge(options, merge_);
    options.integer(
        "--token", "S",
        "Show what one generated token depends on, in pictures and in the terminal; 0 is "
        "the first; with --merge words, one generated word",
        token_);
    options.choice(
        "--method", "rollout|relevance",
        "rollout (default): how attention mixes the prompt; relevance: which tokens speak "
        "for or against each new token",
        {"rollout", "relevance"}, method_);
    options
        .add("--rule", "RULE", "With --method relevance: frozen (default) or attnlrp",
             [this](const std::string& text) { rule_ = parse_relevance_rule(text); })
        .words = {"frozen", "attnlrp"};
    options.add(
        "--span", "j:i",
        "With --method relevance: generated tokens j up to but not including i as one target",
        [this](const std::string& text) { how_.span = parse_span(text); });
    options
        .add("--score", "SCORE",
             "With --method relevance: what to explain of each token, its logit (default) or its "
             "log-probability",
             [this](const std::string& text) { how_.score = parse_word_score(text); })
        .words = {"logit", "log-probability"};
    options.flag("--by-layer", "With --token: show every layer, not only the last", by_layer_);
  }

  void run() override {
    check();
    const Options options = preparing_.options();
    if (count_) how_.count = *count_;
    how_.own_position = position_ == "own";
    how_.attribute = !plain_;
    if (method_ == "relevance") how_.relevance = rule_.value_or(RelevanceRule::frozen);
    machine_.apply();
    const Deliverer deliverer(output_, filter_.read());
    input_.prompt = text_or_standard_input(input_.prompt, "--prompt");
    if (input_.text) input_.text = text_or_standard_input(*input_.text, "--text");
    if (!text_file_) {
      deliverer.deliver(shown(generate(*open_generation(source_, input_), options, how_)));
      return;
    }
    const std::vector<std::string> prompts = texts_of(*text_file_);
    const int count = static_cast<int>(prompts.size());
    const OpenInput open = open_generations(source_, input_.ignore_code);
    const auto open_prompt = [&](int k) {
      GenerationInput input = input_;
      input.reads = prompts[static_cast<size_t>(k)];
      return open(input);
    };
    std::vector<Result> results;
    for (Generated& written : generate(count, open_prompt, options, how_)) {
      Generated result = shown(std::move(written));
      result.prompt.item = static_cast<int>(results.size());
      result.prompt.items = count;
      results.push_back(std::move(result));
    }
    deliverer.deliver(results, true);
  }

 private:
  void declare_input(OptionList& options) {
    options.group("Input of a model");
    options.text("--prompt", "TEXT",
                 "The text that the model continues; '-' reads it from standard input",
                 input_.prompt);
    options.text("--text", "TEXT",
                 "The source of a model with an encoder, such as T5 or BART; --prompt is then how "
                 "its target starts, and may be left out",
                 input_.text);
    options.text("--text-file", "FILE",
                 "A file of prompts or sources, one per line, for a list of results; '-' is "
                 "standard input",
                 text_file_);
    options.add("--ids", "1,2023,...",
                "Token ids in place of a prompt or source; nothing is added to them",
                [this](const std::string& text) { input_.ids = parse_integers("--ids", text); });
    options.text("--continuation", "TEXT",
                 "A text that is already written: attribute it in one pass, generate nothing",
                 input_.continuation);
    declare_ignore_code(options, input_.ignore_code);
  }

  void declare_choosing(OptionList& options) {
    options.group("Generation");
    options.integer("--count", "N", "Generate at most N tokens (default: 20)", count_);
    options.real("--temperature", "T",
                 "Sample tokens, more randomly the larger it is; 0 (default) takes the most likely",
                 how_.temperature);
    options.integer("--top-k", "K", "With --temperature: sample from the K most likely tokens",
                    how_.top_k);
    options.real("--top-p", "P",
                 "With --temperature: sample from the smallest set of tokens with this total "
                 "probability",
                 how_.top_p);
    options.add("--seed", "S",
                "With --temperature: the same seed gives the same tokens (default: 0)",
                [this](const std::string& text) { how_.seed = parse_unsigned("--seed", text); });
    options.choice("--position", "predicting|own",
                   "Attribute a token at the position that predicts it, or at its own",
                   {"predicting", "own"}, position_);
    options.texts("--stop", "TOKEN",
                  "A token that ends the text, as a word or an id, in addition to the model's own",
                  input_.stops);
    options.flag("--ignore-end", "Continue after the model's end token", how_.ignore_end);
    options.flag("--plain", "Print only the text, without attribution", plain_);
  }

  // As the options ask for it.
  Generated shown(Generated result) const {
    if (!merge_.empty()) result = merge_words(std::move(result));
    if (!token_) return result;
    result.shown = resolve_index(*token_, static_cast<int>(result.tokens.size()),
                                 merge_.empty() ? "generated token" : "generated word", source_);
    result.shown_by_layer = by_layer_;
    return result;
  }

  // Options that would have no effect together are mistakes.
  void check() const {
    if (text_file_ && input_.text) fail_together("--text-file", "--text");
    if (text_file_ && !input_.prompt.empty()) fail_together("--text-file", "--prompt");
    if (text_file_ && !input_.ids.empty()) fail_together("--text-file", "--ids");
    if (text_file_ && input_.continuation) fail_together("--text-file", "--continuation");
    if (method_ == "relevance" && filter_.renormalise)
      fail_together("--method relevance", "--renormalise");
    if (input_.prompt.empty() && input_.ids.empty() && !input_.text && !text_file_)
      fail_usage(
          "generate: no --prompt was given, or an empty one, expected a text to continue; for "
          "example headwater generate {} --prompt \"Anna took the key to the box. Where is the "
          "key? Answer:\"",
          source_);
    if (!input_.ids.empty() && !input_.prompt.empty()) fail_together("--ids", "--prompt");
    if (!input_.ids.empty() && input_.text) fail_together("--ids", "--text");
    if (!input_.ids.empty() && input_.continuation) fail_together("--ids", "--continuation");
    if (count_ && *count_ < 1)
      fail_usage("--count {}: expected 1 or more tokens; choose another", *count_);
    if (count_ && input_.continuation) fail_together("--count", "--continuation");
    if (!input_.stops.empty() && how_.ignore_end) fail_together("--stop", "--ignore-end");
    if (!input_.stops.empty() && input_.continuation) fail_together("--stop", "--continuation");
    if (by_layer_ && !token_)
      fail_usage(
          "--by-layer: was given without --token, expected the token to show; add --token 0");
    if (rule_ && method_ != "relevance")
      fail_usage("--rule: was given without --method relevance, expected both; add it");
    if (method_ == "relevance" && by_layer_) fail_together("--method relevance", "--by-layer");
    if (how_.span && token_) fail_together("--span", "--token");
    if (plain_ && !method_.empty()) fail_together("--plain", "--method");
    if (plain_ && token_) fail_together("--plain", "--token");
    if (plain_ && !merge_.empty()) fail_together("--plain", "--merge");
    if (plain_ && filter_.list) fail_together("--plain", "--filter");
    if (plain_ && !position_.empty()) fail_together("--plain", "--position");
    if (plain_) {
      preparing_.refuse_fuse("--plain");
      preparing_.refuse_all_but_fuse("--plain");
    }
  }

  [[noreturn]] static void fail_together(const char* option, const char* other) {
    fail_usage("{}: was given together with {}, expected one of them; leave one out", option,
               other);
  }

  std::string source_, position_, method_, merge_;
  std::optional<RelevanceRule> rule_;
  GenerationInput input_;
  GenerateOptions how_;
  bool plain_ = false, by_layer_ = false;
  std::optional<int> count_, token_;
  std::optional<std::string> text_file_;
  MachineOptions machine_;
  PreparingOptions preparing_;
  OutputOptions output_;
  FilterOptions filter_;
};

}  // namespace

std::unique_ptr<Command> generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace headwater::cli
