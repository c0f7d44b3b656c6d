#include "cli/options/preparing.h"

#include <limits>

#include "cli/numbers.h"
#include "headwater/core/fail.h"
#include "headwater/layer/resolve.h"

namespace headwater::cli {

void PreparingOptions::declare(OptionList& options) {
  const Options usual = options_of(preset);
  options.group("Options");
  options
      .add("--preset", "NAME",
           fmt::format("Sets the options from --fuse to --divide together: paper, tutorial, "
                       "vit-explain or metrics "
                       "(default: {}, whose values follow)",
                       to_string(preset)),
           [this](const std::string& text) {
             preset = parse_preset(text);
             preset_given = true;
           })
      .words = {"paper", "tutorial", "vit-explain", "metrics"};
  options
      .add("--fuse", "HOW", "How heads become one: mean (default), max, min or head:K",
           [this](const std::string& text) { fuse = parse_fuse(text); })
      .words = {"mean", "max", "min", "head:"};
  options.integer("--head", "K", "One head alone: short for --fuse head:K", head);
  options.add("--residual", "R",
              fmt::format("Weight of the residual connection, at least 0 and below 1 (default: {})",
                          usual.residual),
              [this](const std::string& text) { residual = parse_real("--residual", text); });
  options.add(
      "--discard", "D",
      fmt::format("Share of the smallest weights to drop, at least 0 and below 1 (default: {})",
                  usual.discard),
      [this](const std::string& text) { discard = parse_real("--discard", text); });
  options
      .add("--order", "ORDER", "Which step comes first: residual-first (default) or discard-first",
           [this](const std::string& text) { order = parse_order(text); })
      .words = {"residual-first", "discard-first"};
  options
      .add("--empty", "RULE", "What a row without weights becomes: identity (default) or zero",
           [this](const std::string& text) { empty = parse_empty(text); })
      .words = {"identity", "zero"};
  options
      .add(
          "--divide", "always|changed",
          "When to divide rows by their sums: always (default), or only in steps that changed them",
          [this](const std::string& text) { divide = parse_divide(text); })
      .words = {"always", "changed"};
  options.add("--layers", "j:i",
              "Layers j up to but not including i, like Python: 0:6, 3:, :-1 (default: all)",
              [this](const std::string& text) { layers = parse_slice(text); });
}

void declare_row(OptionList& options, const char* about, std::optional<Row>& row) {
  options.add("--row", "ROW", about, [&row](const std::string& text) { row = parse_row(text); })
      .words = {"all", "cls", "last", "mask", "mean"};
}

void PreparingOptions::declare_row(OptionList& options, const char* about) {
  options.group("Options");
  cli::declare_row(options, about, row);
}

Options PreparingOptions::options() const {
  if (fuse && head)
    fail_usage("--head: was given together with --fuse, expected one of them; leave one out");
  Options options = options_of(preset);
  options.fuse = head ? Fuse::one(*head) : fuse.value_or(options.fuse);
  options.residual = residual.value_or(options.residual);
  options.discard = discard.value_or(options.discard);
  options.order = order.value_or(options.order);
  options.empty = empty.value_or(options.empty);
  options.divide = divide.value_or(options.divide);
  options.layers = layers.value_or(options.layers);
  options.row = row.value_or(options.row);
  check(options);
  return options;
}

namespace {

[[noreturn]] void refuse(const char* option, const std::string& command) {
  fail_usage(
      "{}: was given together with {}, which does not use it, expected one of them; leave "
      "it out",
      option, command);
}

}  // namespace

void PreparingOptions::refuse_fuse(const std::string& command) const {
  if (fuse) refuse("--fuse", command);
  if (head) refuse("--head", command);
}

void PreparingOptions::refuse_discard(const std::string& command) const {
  if (discard) refuse("--discard", command);
}

void PreparingOptions::refuse_all_but_fuse(const std::string& command) const {
  refuse_preparing(command);
  if (layers) refuse("--layers", command);
}

void PreparingOptions::refuse_preparing(const std::string& command) const {
  if (preset_given) refuse("--preset", command);
  if (residual) refuse("--residual", command);
  refuse_discard(command);
  if (order) refuse("--order", command);
  if (empty) refuse("--empty", command);
  if (divide) refuse("--divide", command);
}

Slice one_layer(int k) {
  Slice slice{k, {}};
  // The last layer has no k + 1 to end before, and the largest number has none at all: no source
  // has a layer of that number, so the slice fails wherever it ends.
  if (k != -1 && k != std::numeric_limits<int>::max()) slice.end = k + 1;
  return slice;
}

}  // namespace headwater::cli
