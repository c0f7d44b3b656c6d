#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <map>

#include "cli/command.h"
#include "cli/commands.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/core/version.h"

namespace headwater::cli {
namespace {

constexpr const char* all_endings = ".json .npy .npz .png .svg .pdf";

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// The line below "Example:" in a command's help.
std::string example_of(const CLI::App& app) {
  const std::string footer = app.get_footer();
  return footer.substr(footer.find_last_of('\n') + 3);
}

[[noreturn]] void unknown(const std::string& word, const std::vector<std::string>& known,
                          const char* what) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view best = nearest(word, views);
  if (!best.empty()) fail_usage("unknown {} '{}'; did you mean '{}'?", what, word, best);
  fail_usage("unknown {} '{}'; see --help", what, word);
}

class CommandLine {
 public:
  CommandLine()
      : app_("headwater traces an output of a transformer back to its input tokens.", "headwater") {
    app_.allow_extras();
    // A source may have the name of a command: only the first word is one.
    app_.require_subcommand(0, 1);
    app_.set_help_flag("-h,--help", "Show this help");
    app_.add_flag("--version", version_, "Show the version")->disable_flag_override();
    app_.footer(
        "Examples:\n"
        "  headwater demo                                 pictures and a tour, in demo/\n"
        "  headwater rollout verb-number --text \"The keys to the cabinet\" --row cls\n"
        "  headwater evaluate verb-number                 how far to trust each method\n"
        "  headwater rollout my-bert/ --text \"The cat sat.\" -o all.svg -o all.npz\n"
        "  headwater info bert.npz                        what is in a file of attention\n"
        "  headwater compare bert.npz --by discard -o sweep.png\n"
        "'headwater COMMAND --help' shows the options of a command.");

    Command& rollout =
        add("rollout", "Attention rollout: what each output token is made of, over all layers",
            "headwater rollout bert.npz --row cls -o cls.svg", run_rollout);
    everything(rollout, Preset::paper);
    rollout.flag("--by-layer", "Also the rollout up to each layer", &Arguments::by_layer,
                 "Options");

    Command& flow = add("flow", "Attention flow: the most that can reach each input token, exactly",
                        "headwater flow bert.npz --row cls --layers 0:3", run_flow);
    everything(flow, Preset::paper);
    flow.option(
        "--column", "One input token alone; -1 is the last", "J",
        [](Arguments& a, const std::string& text) { a.column = parse_integer("--column", text); },
        "Options");
    flow.flag("--every-layer", "The flow from each layer", &Arguments::every_layer, "Options");
    flow.flag("--normalise", "Divide rows by their sums", &Arguments::normalise, "Options");
    flow.flag("--certify", "Check every value again by a flow and a bound that equal it",
              &Arguments::certify, "Options");

    Command& raw = add("raw", "One layer's attention as it is, one head or fused",
                       "headwater raw bert.npz --layer 3 --head 5 -o layer3.png", run_raw);
    everything(raw, Preset::paper);
    layer(raw);

    Command& average = add("average", "The mean over layers of the prepared attention",
                           "headwater average bert.npz --row 0 -o -", run_average);
    everything(average, Preset::paper);

    Command& gradient =
        add("gradient", "Gradient x attention: which attention a logit of a model hangs on",
            "headwater gradient verb-number --text \"The keys\" --target plural --rule chefer",
            run_gradient);
    gradient.source(Command::Takes::models);
    gradient.reading(Command::Takes::models);
    gradient.preparing(Preset::paper);
    gradient.rows("Output token: a number, cls, last, mask, mean or all (default: the target's)");
    gradient.output(all_endings);
    gradient.showing();
    gradient.later("--layer", "One layer alone; -1 is the last", "K",
                   [](Options& o, const std::string& text) {
                     o.layers = one_layer(parse_integer("--layer", text));
                   });
    gradient.all(gradient_options());

    Command& generate =
        add("generate", "Text that a model writes, and which prompt tokens each token leans on",
            "headwater generate facts --prompt \"Anna took the key to the box. Ben went to the "
            "cave. Where is the key?\"",
            run_generate);
    generate.source(Command::Takes::models, "facts");
    generate.all(generate_options());
    generate.all(machine_options());
    generate.preparing(Preset::paper);
    for (const char* refused : {"--preset", "--discard", "--order"}) generate.hide(refused);
    generate.output(all_endings);
    generate.showing();
    generate.several("--stop",
                     "A token that ends the text, a word or an id, beside the model's own", "TOKEN",
                     &Arguments::stops, "Generation");
    generate.flag("--ignore-end", "Go on after the model's end token", &Arguments::ignore_end,
                  "Generation");
    generate.flag("--plain", "Only the text, no attribution", &Arguments::plain, "Generation");
    generate.flag("--by-layer", "With --token: each layer, not the last alone",
                  &Arguments::by_layer, "Output");

    Command& metrics = add("metrics", "Eight numbers on a batch: entropies, concentration, maxima",
                           "headwater metrics batch.npz --layer -1 -o metrics.json", run_metrics);
    metrics.source(Command::Takes::anything);
    metrics.reading(Command::Takes::anything);
    metrics.preparing(Preset::metrics);
    metrics.output(".json .npz");
    layer(metrics);

    Command& compare = add("compare", "Results side by side on one scale, and how far they agree",
                           "headwater compare bert.npz --by discard -o sweep.svg", run_compare);
    everything(compare, Preset::paper);
    layer(compare);
    compare.app()
        .add_option("OTHER", compare.arguments.other,
                    "With --by model: the model, or the file, to put beside it")
        ->type_name("PATH")
        ->group("Source");
    compare.option(
        "--by", "layer, evolution, discard, fuse, method or model", "WHAT",
        [](Arguments& a, const std::string& text) { a.by = text; }, "Options");

    Command& evaluate = add(
        "evaluate", "How far attention agrees with what an output of a model hangs on",
        "headwater evaluate verb-number --examples sentences.jsonl -o curves.svg", run_evaluate);
    evaluate.source(Command::Takes::models);
    evaluate.all(evaluate_options());
    evaluate.all(machine_options());
    evaluate.preparing(Preset::paper);
    evaluate.rows("Output token: a number, cls, last or mask (default: the one that decides)");
    evaluate.output(".json .npz .png .svg .pdf");
    evaluate.flag("--faithfulness", "Also comprehensiveness, sufficiency and perturbation area",
                  &Arguments::faithfulness, "Evaluation");

    Command& info = add("info", "What is in a source, how it is read, and which kernel runs",
                        "headwater info bert.npz", run_info);
    info.source(Command::Takes::anything);
    info.reading(Command::Takes::anything);
    info.output(".json .npz");

    Command& demo =
        add("demo", "What headwater does, on the models that ship: pictures and a short tour",
            "headwater demo", run_demo);
    demo.option(
        "--folder", "Where the pictures go (default: demo)", "FOLDER",
        [](Arguments& a, const std::string& text) { a.folder = text; }, "Output");

    Command& completion =
        add("completion", "The script that completes headwater's words: bash, zsh or fish",
            "headwater completion bash > /etc/bash_completion.d/headwater", nullptr);
    completion.app()
        .add_option("SHELL", completion.arguments.shell, "bash, zsh or fish")
        ->type_name("SHELL");
  }

  Request parse(int count, const char* const* words);

 private:
  Command& add(const char* name, const char* about, const char* example,
               void (*run)(const Arguments&)) {
    return commands_.try_emplace(name, app_, name, about, example, run).first->second;
  }
  static void everything(Command& command, Preset preset) {
    command.source(Command::Takes::anything);
    command.reading(Command::Takes::anything);
    command.preparing(preset);
    command.rows("Output token: a number, cls, last, mask, mean or all (default)");
    command.output(all_endings);
    command.showing();
  }
  static void layer(Command& command) {
    command.option(
        "--layer", "Which layer; -1 is the last (default)", "K",
        [](Arguments& a, const std::string& text) { a.layer = parse_integer("--layer", text); },
        "Options");
  }
  std::vector<CommandWords> words() const {
    std::vector<CommandWords> all;
    for (const CLI::App* app : app_.get_subcommands({}))
      all.push_back({app->get_name(), app->get_description(), option_names(*app)});
    return all;
  }

  CLI::App app_;
  std::map<std::string, Command> commands_;
  bool version_ = false;
};

Request CommandLine::parse(int count, const char* const* words) {
  try {
    app_.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    return {nullptr, {}, app_.help()};
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    const size_t flag = what.find(" was given a disallowed flag override");
    if (flag != std::string::npos)
      fail_usage("--{}: was given a value, expected none; see --help", what.substr(0, flag));
    fail_usage("{}: no value was given, expected one; see --help", what.substr(0, what.find(':')));
  } catch (const CLI::ParseError& error) {
    const std::string what = error.what();
    fail_usage("{}; see --help", what.substr(0, what.find('\n')));
  }
  if (version_) return {nullptr, {}, std::string("headwater ") + version() + "\n"};
  const std::vector<CLI::App*> chosen = app_.get_subcommands();
  const std::vector<std::string> left = app_.remaining(true);
  if (chosen.empty()) {
    if (left.empty()) return {nullptr, {}, app_.help()};
    std::vector<std::string> names;
    const bool option = left[0].starts_with("-");
    if (option) names = option_names(app_);
    for (const CommandWords& command : this->words())
      if (!option) names.push_back(command.name);
    unknown(left[0], names, option ? "option" : "command");
  }
  Command& command = commands_.at(chosen[0]->get_name());
  if (!left.empty() && left[0].starts_with("-") && left[0].size() > 1)
    unknown(left[0], option_names(*chosen[0]), "option");
  if (!left.empty())
    fail_usage("'{}' was not expected after '{}'; quote names that have spaces", left[0],
               chosen[0]->get_name());
  if (!command.run) return {nullptr, {}, completion(command.arguments.shell, this->words())};
  const bool needs_source = chosen[0]->get_option_no_throw("SOURCE") != nullptr;
  if (needs_source && command.arguments.source.empty())
    fail_usage("{}: no SOURCE was given, expected {}; for example {}", chosen[0]->get_name(),
               chosen[0]->get_option_no_throw("--sums") == nullptr
                   ? "a model directory or the name of a model that ships"
                   : "a file with attention or a model",
               example_of(*chosen[0]));
  return {command.run, command.finish(), ""};
}

}  // namespace

Request parse(int count, const char* const* words) { return CommandLine().parse(count, words); }

}  // namespace headwater::cli
