// Options that say how heads and layers are prepared, and which output tokens are asked for.
#pragma once
#include <optional>
#include <string>

#include "cli/option_list.h"
#include "headwater/layer/options.h"

namespace headwater::cli {

/// What was typed; options() puts it on top of the preset, wherever --preset stood.
struct PreparingOptions {
  Preset preset = Preset::paper;  // a command may start from another
  bool preset_given = false;
  std::optional<Fuse> fuse;
  std::optional<int> head;
  std::optional<double> residual, discard;
  std::optional<Order> order;
  std::optional<Empty> empty;
  std::optional<Divide> divide;
  std::optional<Slice> layers;
  std::optional<Row> row;

  void declare(OptionList& options);
  void declare_row(OptionList& options, const char* about);

  /// Throws Error (usage) for a number out of range and for --fuse together with --head.
  Options options() const;

  /// Throws Error (usage) if --fuse or --head was given: `command` sets them itself.
  void refuse_fuse(const std::string& command) const;
  /// The same for --discard.
  void refuse_discard(const std::string& command) const;
  /// The same for every option that prepares a layer after its heads are fused.
  void refuse_preparing(const std::string& command) const;
  /// The same, and also for --layers.
  void refuse_all_but_fuse(const std::string& command) const;
};

/// Adds --row.
void declare_row(OptionList& options, const char* about, std::optional<Row>& row);

/// Layer k alone.
Slice one_layer(int k);

}  // namespace headwater::cli
