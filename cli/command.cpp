#include "cli/command.h"

#include "headwater/core/fail.h"

namespace headwater::cli {

void Command::source(Takes what, const char* shipped) {
  const std::string ships = std::string("or the name of one that ships: ") + shipped;
  app_.add_option("SOURCE", arguments.source,
                  what == Takes::models
                      ? "A model directory as transformers saves it, " + ships
                      : "A file of attention: .npy, .npz, .safetensors, .json (docs/formats.md); a "
                        "model directory as transformers saves it, " +
                            ships)
      ->type_name("PATH")
      ->group("Source");
}

void Command::reading(Takes what) {
  all(input_options());
  all(item_options());
  if (what == Takes::anything) all(file_options());
  all(machine_options());
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

void Command::rows(const char* about) {
  later("--row", about, "ROW",
        [](Options& o, const std::string& text) { o.row = parse_row(text); });
}

void Command::several(const char* names, const std::string& about, const char* value,
                      std::vector<std::string> Arguments::*field, const char* group) {
  app_.add_option_function<std::vector<std::string>>(
          names, [this, field](const std::vector<std::string>& words) { arguments.*field = words; },
          about + "; may be given several times")
      ->type_name(value)
      ->allow_extra_args(false)
      ->group(group);
}

void Command::output(const char* endings) {
  several("-o,--output",
          std::string("Write there, by ending: ") + endings + "; '-' is JSON on standard output",
          "FILE", &Arguments::outputs, "Output");
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

}  // namespace headwater::cli
