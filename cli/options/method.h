// The options of a command that runs one method on each item of a source.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/deliver.h"
#include "cli/option_list.h"
#include "cli/options/machine.h"
#include "cli/options/output.h"
#include "cli/options/preparing.h"
#include "cli/options/source.h"
#include "headwater/result/result.h"

namespace headwater::cli {

struct MethodOptions {
  SourceOptions source;
  PreparingOptions preparing;
  OutputOptions output;
  FilterOptions filter;
  MachineOptions machine;
  bool embed_layers = false;
  std::string merge;

  void declare(OptionList& options, Takes what = Takes::anything,
               const char* row =
                   "Output token: a number, cls, last, mask, mean, all (default), several (3,4), "
                   "or a word of the text: keys, keys#2 for the second");

  /// --merge, for methods whose values add up over the pieces of a word.
  void declare_merge(OptionList& options);

  /// --embed-layers, for methods that mix the maps of several layers.
  void declare_embed_layers(OptionList& options);

  /// Checks everything that was typed, then the outputs, then opens the source, calls `method` for
  /// the items asked for and delivers what it returns.
  void run(const std::function<Result(Source&, const Options&)>& method);
};

/// --layers-shown: some of the layers, by number.
void declare_layers_shown(OptionList& options, const char* about, std::vector<int>& layers);

/// --layer of the commands that look at one layer, the last by default.
void declare_layer(OptionList& options, int& layer);

}  // namespace headwater::cli
