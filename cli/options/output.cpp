#include "cli/options/output.h"

#include "headwater/core/fail.h"

namespace headwater::cli {

void OutputOptions::declare(OptionList& options, const char* endings) {
  options.group("Output");
  command = options.line;
  options.texts("-o,--output", "FILE",
                std::string("Write the result to FILE; its ending picks the format: ") + endings +
                    "; '-' is JSON on standard output",
                paths);
  options.flag("--timing", "Add to the result the seconds for reading, preparing and the method",
               timing);
}

void declare_merge(OptionList& options, std::string& merge) {
  options.group("Output");
  options.choice("--merge", "words",
                 "Words in place of tokens: the columns of a word's pieces are added, its rows "
                 "averaged",
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
