#include "cli/options/output.h"

#include <algorithm>
#include <string_view>

#include "headwater/core/fail.h"
#include "headwater/output/write.h"

namespace headwater::cli {

void OutputOptions::declare(OptionList& options, const char* known, bool timed) {
  endings = known;
  options.group("Output");
  command = options.line;
  options.texts("-o,--output", "FILE",
                "Write the result to FILE; its ending picks the format: " + endings +
                    "; '-' is JSON on standard output",
                paths);
  if (timed)
    options.flag("--timing",
                 "Record in the file how many seconds reading, preparing and the method took",
                 timing);
  if (endings.find(".svg") == std::string::npos) return;
  options.text("--title", "TEXT", "The title of a picture or page", title);
  options
      .add("--colours", "NAME",
           "The colours of a picture's cells: viridis (default), greys, blues or oranges",
           [this](const std::string& text) {
             colours = parse_colours(text);
             colours_given_ = true;
           })
      .words = {"viridis", "greys", "blues", "oranges"};
}

void OutputOptions::check() const {
  const auto any = [&](bool pages) {
    return std::ranges::any_of(paths, [&](const std::string& path) {
      return path.ends_with(".html") ? pages : is_picture(path);
    });
  };
  const bool any_record = std::ranges::any_of(paths, [](const std::string& path) {
    return path == "-" || path.ends_with(".json") || path.ends_with(".npz") ||
           path.ends_with(".html");
  });
  if (timing && !any_record)
    fail_usage("--timing: no file that holds it is written, expected one; add -o x.json");
  if (!title.empty() && !any(true))
    fail_usage("--title: no picture or page is written, expected one that has it; add -o x.svg");
  if (colours_given_ && !any(false))
    fail_usage("--colours: no picture is written, expected one that has them; add -o x.svg");
}

void declare_merge(OptionList& options, std::string& merge) {
  options.group("Output");
  options.choice("--merge", "words",
                 "Show words in place of tokens: the columns of a word's pieces are added, its "
                 "rows averaged",
                 {"words"}, merge);
}

void FilterOptions::declare(OptionList& options) {
  options.group("Output");
  declare_list(options, "Leave tokens out of what is shown: special, punctuation, common or @FILE");
  options.flag("--renormalise", "Divide what the filter keeps by its sum", renormalise);
}

void FilterOptions::declare_list(OptionList& options, const char* about) {
  options.text("--filter", "LIST", about, list).words = {"special", "punctuation", "common"};
}

Filter FilterOptions::read() const {
  Filter filter;
  if (list) filter = parse_filter(*list);
  filter.renormalise = renormalise;
  if (renormalise && !filter.any())
    fail_usage(
        "--renormalise: no --filter was given, expected one that leaves tokens out; add --filter "
        "special");
  return filter;
}

}  // namespace headwater::cli
