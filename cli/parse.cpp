#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <map>

#include "cli/commands.h"
#include "cli/options.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/core/version.h"

namespace headwater::cli {
namespace {

// One command's options. A preset sets many options at once wherever it stands, so the others wait
// for it.
class Command {
 public:
  Command(CLI::App& app, const char* name, const char* about, const char* example,
          void (*run)(const Arguments&))
      : run(run), app_(*app.add_subcommand(name, about)) {
    app_.allow_extras();
    app_.footer(std::string("Example:\n  ") + example);
    app_.set_help_flag("-h,--help", "Show this help");
  }

  using Take = std::function<void(Arguments&, const std::string&)>;
  void option(const char* names, const char* about, const char* value, const Take& take,
              const char* group) {
    app_.add_option_function<std::string>(
            names, [this, take](const std::string& text) { take(arguments, text); }, about)
        ->type_name(value)
        ->take_last()
        ->group(group);
  }
  void later(const char* names, const char* about, const char* value,
             const std::function<void(Options&, const std::string&)>& take) {
    app_.add_option_function<std::string>(
            names,
            [this, take](const std::string& text) {
              overrides_.push_back([take, text](Options& options) { take(options, text); });
            },
            about)
        ->type_name(value)
        ->take_last()
        ->group("Options");
  }
  void flag(const char* names, const char* about, bool Arguments::*field, const char* group) {
    app_.add_flag_function(
            names, [this, field](int64_t) { arguments.*field = true; }, about)
        ->disable_flag_override()
        ->group(group);
  }
  void all(const std::vector<OptionSpec>& list) {
    for (const OptionSpec& one : list) option(one.names, one.about, one.value, one.take, one.group);
  }
  void source();
  void reading();
  void preparing(Preset preset);
  void rows();
  void output();
  void showing();

  /// The arguments with the preset first and what was said explicitly on top.
  Arguments finish();
  CLI::App& app() { return app_; }

  Arguments arguments;
  void (*run)(const Arguments&);

 private:
  CLI::App& app_;
  Preset preset_ = Preset::paper;
  std::vector<std::function<void(Options&)>> overrides_;
};

void Command::source() {
  app_.add_option(
          "SOURCE", arguments.source,
          "A model directory as transformers saves it, the name of a model that ships, or a "
          "file of attention: .npy, .npz, .safetensors, .json (docs/formats.md)")
      ->type_name("PATH")
      ->group("Source");
}

void Command::reading() {
  for (const auto& list : {input_options(), file_options(), machine_options()}) all(list);
  app_.add_flag_function(
          "--truncate", [this](int64_t) { arguments.input.truncate = true; },
          "Cut a text that is too long for the model")
      ->disable_flag_override()
      ->group("Input of a model");
}

void Command::preparing(Preset preset) {
  preset_ = preset;
  option(
      "--preset", "paper, tutorial, vit-explain or metrics: where all other options start", "NAME",
      [this](Arguments&, const std::string& text) { preset_ = parse_preset(text); }, "Options");
  later("--fuse", "How heads become one: mean, max, min or head:K", "HOW",
        [](Options& o, const std::string& text) { o.fuse = parse_fuse(text); });
  later("--head", "One head alone: short for --fuse head:K", "K",
        [](Options& o, const std::string& text) {
          o.fuse = Fuse::one(parse_integer("--head", text));
        });
  later("--residual", "Weight of the residual connection, from 0 up to 1", "R",
        [](Options& o, const std::string& text) { o.residual = parse_real("--residual", text); });
  later("--discard", "Share of the smallest weights to drop, from 0 up to 1", "D",
        [](Options& o, const std::string& text) { o.discard = parse_real("--discard", text); });
  later("--order", "residual-first or discard-first", "ORDER",
        [](Options& o, const std::string& text) { o.order = parse_order(text); });
  later("--empty", "What an emptied row becomes: identity or zero", "RULE",
        [](Options& o, const std::string& text) { o.empty = parse_empty(text); });
  later("--divide", "Divide rows by their sums: always, or in steps that changed them",
        "always|changed",
        [](Options& o, const std::string& text) { o.divide = parse_divide(text); });
  later("--layers", "Layers j up to but not i, as Python slices: 0:6, 3:, :-1", "j:i",
        [](Options& o, const std::string& text) { o.layers = parse_slice(text); });
}

void Command::rows() {
  later("--row", "Output token: a number, cls, last, mask, mean or all (default)", "ROW",
        [](Options& o, const std::string& text) { o.row = parse_row(text); });
}

void Command::output() {
  app_.add_option_function<std::vector<std::string>>(
          "-o,--output",
          [this](const std::vector<std::string>& paths) { arguments.outputs = paths; },
          "Write there, by ending: .json .npy .npz .png .svg .pdf; '-' is JSON on standard output; "
          "may be given "
          "several times")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Output");
  flag("--timing", "Add the seconds of reading, preparing and the method to the result",
       &Arguments::timing, "Output");
}

void Command::showing() {
  option(
      "--filter", "Leave tokens out of what is shown: special, punctuation, common, @FILE", "LIST",
      [](Arguments& a, const std::string& text) {
        const bool renormalise = a.filter.renormalise;
        a.filter = parse_filter(text);
        a.filter.renormalise = renormalise;
      },
      "Output");
  app_.add_flag_function(
          "--renormalise", [this](int64_t) { arguments.filter.renormalise = true; },
          "Divide what the filter left by its sum")
      ->disable_flag_override()
      ->group("Output");
}

Arguments Command::finish() {
  arguments.options = options_of(preset_);
  for (const auto& apply : overrides_) apply(arguments.options);
  check(arguments.options);
  if (arguments.filter.renormalise && !arguments.filter.any())
    fail_usage(
        "--renormalise: no --filter was given, expected one that leaves tokens out; add --filter "
        "special");
  return arguments;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
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
        "  headwater demo                                 pictures of an example in demo/\n"
        "  headwater info bert.npz                        what is in a file\n"
        "  headwater rollout bert/ --text \"The cat sat.\" --row cls   a model, run here\n"
        "  headwater rollout bert.npz --row cls           one token's row in the terminal\n"
        "  headwater rollout bert.npz -o all.svg -o all.npz\n"
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
            "headwater gradient bert/ --text \"A fine film.\" --target POSITIVE --rule chefer",
            run_gradient);
    everything(gradient, Preset::paper);
    gradient.later("--layer", "One layer alone; -1 is the last", "K",
                   [](Options& o, const std::string& text) {
                     o.layers = one_layer(parse_integer("--layer", text));
                   });
    for (const OptionSpec& one : gradient_options())
      gradient.option(one.names, one.about, one.value, one.take, one.group);

    Command& generate =
        add("generate", "Text that a model writes, and which prompt tokens each token leans on",
            "headwater generate llama/ --prompt \"Once upon a time\" --count 20", run_generate);
    generate.source();
    generate.all(generate_options());
    generate.all(machine_options());
    generate.preparing(Preset::paper);
    generate.output();
    generate.showing();
    generate.flag("--ignore-end", "Go on after the model's end token", &Arguments::ignore_end,
                  "Generation");
    generate.flag("--plain", "Only the text, no attribution", &Arguments::plain, "Generation");
    generate.flag("--by-layer", "With --token: each layer, not the last alone",
                  &Arguments::by_layer, "Output");

    Command& metrics = add("metrics", "Eight numbers on a batch: entropies, concentration, maxima",
                           "headwater metrics batch.npz --layer -1 -o metrics.json", run_metrics);
    metrics.source();
    metrics.reading();
    metrics.preparing(Preset::metrics);
    metrics.output();
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

    Command& evaluate =
        add("evaluate", "How far attention agrees with what an output of a model hangs on",
            "headwater evaluate bert/ --examples sentences.jsonl -o curves.svg", run_evaluate);
    evaluate.source();
    evaluate.all(evaluate_options());
    evaluate.all(machine_options());
    evaluate.preparing(Preset::paper);
    evaluate.rows();
    evaluate.output();
    evaluate.flag("--faithfulness", "Also comprehensiveness, sufficiency and perturbation area",
                  &Arguments::faithfulness, "Evaluation");

    Command& info = add("info", "What is in a source, how it is read, and which kernel runs",
                        "headwater info bert.npz", run_info);
    info.source();
    info.reading();
    info.output();

    Command& demo = add("demo", "An example of eight tokens: pictures in a folder and a short tour",
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
    command.source();
    command.reading();
    command.preparing(preset);
    command.rows();
    command.output();
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
    fail_usage(
        "{}: no SOURCE was given, expected a file with attention or a model directory; for example "
        "headwater {} bert.npz",
        chosen[0]->get_name(), chosen[0]->get_name());
  return {command.run, command.finish(), ""};
}

}  // namespace

Request parse(int count, const char* const* words) { return CommandLine().parse(count, words); }

}  // namespace headwater::cli
