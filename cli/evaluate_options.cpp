#include "cli/options.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater::cli {

std::vector<OptionSpec> evaluate_options() {
  const char* group = "Evaluation";
  return {
      {"--examples",
       "A .jsonl of examples, or a .txt of texts, one a line (docs/evaluation.md); default: those "
       "that came with the model",
       "FILE", [](Arguments& a, const std::string& text) { a.evaluation.examples = text; }, group},
      {"--against", "What importance is measured by: blank-out, gradient or both (default)", "WHAT",
       [](Arguments& a, const std::string& text) {
         static constexpr std::string_view known[] = {"blank-out", "gradient", "both"};
         if (text != known[0] && text != known[1] && text != known[2])
           fail_usage("unknown --against '{}'{}", text, suggestion(text, known));
         a.evaluation.against = text == "gradient"    ? Against::gradient
                                : text == "blank-out" ? Against::blank_out
                                                      : Against::both;
       },
       group},
      {"--filter", "Tokens that do not count: special, punctuation, common, @FILE", "LIST",
       [](Arguments& a, const std::string& text) { a.filter = parse_filter(text); }, group},
      {"--limit", "The first N examples only", "N",
       [](Arguments& a, const std::string& text) {
         const int limit = parse_integer("--limit", text);
         if (limit < 1)
           fail_usage("--limit {}: expected 1 or more examples; choose another", limit);
         a.evaluation.limit = limit;
       },
       group},
  };
}

}  // namespace headwater::cli
