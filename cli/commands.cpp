#include "cli/command.h"

// clang-format off
// In the order of the help. The file of a command defines its function, such as rollout_command().
#define HEADWATER_COMMANDS(each) \
  each(rollout)    \
  each(flow)       \
  each(raw)        \
  each(average)    \
  each(gradient)   \
  each(relevance)  \
  each(generate)   \
  each(metrics)    \
  each(compare)    \
  each(evaluate)   \
  each(attribute)  \
  each(summarise)  \
  each(info)       \
  each(models)     \
  each(serve)      \
  each(demo)       \
  each(completion)
// clang-format on

namespace headwater::cli {

#define HEADWATER_DECLARE(name) std::unique_ptr<Command> name##_command();
HEADWATER_COMMANDS(HEADWATER_DECLARE)

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> all;
#define HEADWATER_ADD(name) all.push_back(name##_command());
  HEADWATER_COMMANDS(HEADWATER_ADD)
  return all;
}

}  // namespace headwater::cli
