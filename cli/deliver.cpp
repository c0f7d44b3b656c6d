#include "cli/deliver.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/open.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/layer/options.h"
#include "headwater/output/terminal/terminal.h"
#include "headwater/output/write.h"
#include "headwater/result/row_to_show.h"

namespace headwater::cli {
namespace {

bool in_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) &&
         !(terminal && std::string_view(terminal) == "dumb");
}

int width_of_terminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return 80;
}

struct Show {
  const Filter& filter;
  std::string operator()(const Attribution& result) const {
    return terminal(result, row_to_show(result), filter, in_colour(), width_of_terminal());
  }
  std::string operator()(const Comparison& result) const {
    return terminal(result, row_to_show(result.panels.back()), filter);
  }
  std::string operator()(const Generated& result) const {
    return terminal(result, filter, in_colour(), width_of_terminal());
  }
  std::string operator()(const Evaluation& result) const { return terminal(result); }
  std::string operator()(const Metrics& result) const { return terminal(result); }
  std::string operator()(const Info& result) const { return terminal(result); }
};

}  // namespace

void check_outputs(const Arguments& arguments) {
  for (const std::string& path : arguments.outputs) check_writable(path);
}

void run_items(const Arguments& arguments, const std::function<Result(Batch&, Source&)>& method) {
  check_outputs(arguments);
  run_items(*open_source(arguments.source, arguments), arguments, method);
}

void run_items(Batch& batch, const Arguments& arguments,
               const std::function<Result(Batch&, Source&)>& method) {
  if (batch.size() == 0)
    fail("{}: is a model, expected something to run it on; give --text \"...\" or --image FILE",
         arguments.source);
  if (!arguments.item && !arguments.all_items && batch.size() > 1)
    fail("{}: holds a batch of {}, expected one item; choose it with --item K or take --item all",
         arguments.source, batch.size());
  const int only =
      resolve_index(arguments.item.value_or(0), batch.size(), "item", arguments.source);
  std::vector<Result> results;
  for (int k = 0; k < batch.size(); ++k) {
    if (!arguments.all_items && k != only) continue;
    ProgressSource source(batch.item(k));
    results.push_back(method(batch, source));
  }
  deliver(results, arguments);
}

void deliver(const std::vector<Result>& results, const Arguments& arguments) {
  WriteOptions options;
  options.filter = arguments.filter;
  options.timing = arguments.timing;
  options.list = arguments.all_items;
  for (const std::string& path : arguments.outputs) {
    write(results, path, options);
    if (path != "-" && isatty(STDERR_FILENO)) std::fprintf(stderr, "wrote %s\n", path.c_str());
  }
  if (!arguments.outputs.empty()) return;
  for (const Result& result : results) {
    const std::string text = std::visit(Show{arguments.filter}, result);
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
      fail("standard output: cannot be written, expected a reader; check the pipe");
  }
}

}  // namespace headwater::cli
