// Options that say how heads and layers are prepared, and which output tokens are asked for.
#pragma once
#include <optional>

#include "cli/option_list.h"
#include "headwater/layer/options.h"

namespace headwater::cli {

/// What was typed; options() puts it on top of the preset, wherever --preset stood.
struct PreparingOptions {
  Preset preset = Preset::paper;  // a command may start from another
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
};

/// Layer k alone.
Slice one_layer(int k);

}  // namespace headwater::cli
