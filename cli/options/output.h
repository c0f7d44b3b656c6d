// Options that say where a result goes and what of it is shown.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/option_list.h"
#include "headwater/output/colour.h"
#include "headwater/result/filter.h"

namespace headwater::cli {

inline constexpr const char* all_endings = ".json .npy .npz .png .svg .pdf .html";

struct OutputOptions {
  std::vector<std::string> paths;  // -o, in the order typed; none: show the result
  bool timing = false;
  std::string endings;  // those that the result can have, as in `all_endings`
  std::string command;  // the whole line as typed
  std::string title;    // of pictures and pages; "": derived from what they show
  Ramp colours = Ramp::viridis;

  /// Adds --timing unless the result has no times, and --title and --colours if there is a picture
  /// among the endings.
  void declare(OptionList& options, const char* known, bool timed = true);
  /// Throws Error (usage) for --timing, --title and --colours without an output that they change.
  void check() const;

 private:
  bool colours_given_ = false;
};

/// --merge, for methods whose values add up over the pieces of a word. "": was not given.
void declare_merge(OptionList& options, std::string& merge);

struct FilterOptions {
  std::optional<std::string> list;  // "special,@FILE"
  bool renormalise = false;

  void declare(OptionList& options);
  /// --filter alone, for a command that shows all tokens but does not count all of them.
  void declare_list(OptionList& options, const char* about);

  /// Reads the files that the list names. Throws Error, usage for an unknown word and for
  /// --renormalise without a filter.
  Filter read() const;
};

}  // namespace headwater::cli
