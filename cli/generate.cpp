#include "headwater/method/generate.h"

#include "cli/commands.h"
#include "cli/deliver.h"
#include "headwater/core/fail.h"
#include "headwater/open.h"

namespace headwater::cli {

namespace {

// Options that would do nothing beside others are mistakes.
void check(const Arguments& arguments) {
  const GenerationInput& input = arguments.generation;
  const GenerateOptions& how = arguments.generate;
  if (input.prompt.empty() && input.ids.empty())
    fail_usage(
        "generate: no --prompt was given, or an empty one, expected a text to go on with; for "
        "example headwater generate {} --prompt \"Once upon a time\"",
        arguments.source);
  if (!input.ids.empty() && (!input.prompt.empty() || input.continuation))
    fail_usage("--ids: was given beside {}, expected one of them; leave one out",
               input.prompt.empty() ? "--continuation" : "--prompt");
  if (how.count < 1) fail_usage("--count {}: expected 1 or more tokens; choose another", how.count);
  if (!arguments.stops.empty() && (arguments.ignore_end || input.continuation))
    fail_usage("--stop: was given beside {}, expected one of them; leave one out",
               arguments.ignore_end ? "--ignore-end" : "--continuation");
  if (arguments.by_layer && !arguments.token)
    fail_usage("--by-layer: was given without --token, expected the token to show; add --token 0");
  if (arguments.plain && (arguments.token || arguments.filter.any()))
    fail_usage("--plain: was given beside {}, expected attribution for that; leave one out",
               arguments.token ? "--token" : "--filter");
}

}  // namespace

void run_generate(const Arguments& arguments) {
  check(arguments);
  check_outputs(arguments);
  GenerationInput input = arguments.generation;
  input.stops = arguments.stops;
  const std::unique_ptr<Generation> generation = open_generation(arguments.source, input);
  GenerateOptions how = arguments.generate;
  how.ignore_end = arguments.ignore_end;
  how.attribute = !arguments.plain;
  Generated result = generate(*generation, arguments.options, how);
  if (arguments.token) {
    result.shown = resolve_index(*arguments.token, static_cast<int>(result.ids.size()),
                                 "generated token", arguments.source);
    result.shown_by_layer = arguments.by_layer;
  }
  std::vector<Result> results;
  results.emplace_back(std::move(result));
  deliver(results, arguments);
}

}  // namespace headwater::cli
