#include "headwater/method/generate.h"

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/open.h"
#include "headwater/core/fail.h"

namespace headwater::cli {

void run_generate(const Arguments& arguments) {
  if (arguments.generation.prompt.empty() && arguments.generation.ids.empty())
    fail_usage(
        "generate: no --prompt was given, expected a text to go on with; for example "
        "headwater generate {} --prompt \"Once upon a time\"",
        arguments.source);
  if (arguments.generate.count < 1)
    fail_usage("--count {}: expected 1 or more tokens; choose another", arguments.generate.count);
  if (arguments.by_layer && !arguments.token)
    fail_usage("--by-layer: was given without --token, expected the token to show; add --token 0");
  check_outputs(arguments);
  const std::optional<std::string> folder = model_folder(arguments.source);
  if (!folder)
    fail("{}: is no model directory, expected one that can write; check the name",
         arguments.source);
  GenerationInput input = arguments.generation;
  input.name = arguments.source;
  const std::unique_ptr<Generation> generation = open_generation(*folder, input);
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
