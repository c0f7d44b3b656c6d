#include "cli/deliver.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>

#include "cli/signals.h"
#include "cli/spelling.h"
#include "headwater/core/fail.h"
#include "headwater/output/terminal/terminal.h"
#include "headwater/output/write.h"
#include "headwater/result/row_to_show.h"

namespace headwater::cli {
namespace {

bool in_colour() {
  const char* forced = std::getenv("FORCE_COLOR");
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (forced && *forced) return std::string_view(forced) != "0";
  return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) &&
         !(terminal && std::string_view(terminal) == "dumb");
}

struct Show {
  const Filter& filter;
  std::string operator()(const Attribution& result) const {
    std::string text;
    for (const int r : rows_to_show(result))
      text += (text.empty() ? "" : "\n") +
              terminal(result, r, filter, in_colour(), width_of_terminal());
    return text;
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

int width_of_terminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int asked = columns ? std::atoi(columns) : 0;
  return asked >= 20 && asked <= 1000 ? asked : 80;
}

Deliverer::Deliverer(const OutputOptions& output, Filter filter)
    : paths_(output.paths),
      filter_(std::move(filter)),
      timing_(output.timing),
      command_(output.command),
      title_(output.title),
      colours_(output.colours) {
  for (const std::string& path : paths_) check_writable(path, output.endings);
  output.check();
}

void Deliverer::deliver(const std::vector<Result>& results, bool list) const {
  WriteOptions options;
  options.filter = filter_;
  options.timing = timing_;
  options.list = list;
  options.command = command_;
  options.title = title_;
  options.colours = colours_;
  std::vector<std::string> warnings;
  std::set<std::string> told;  // already said: a note is not repeated for the next picture
  options.warn = [&](const std::string& path, const std::string& warning) {
    if (told.insert(warning).second) warnings.push_back(path + ": " + warning);
  };
  for (const std::string& path : paths_) {
    {
      std::optional<DrawingGuard> guard;
      if (is_picture(path)) guard.emplace(path);
      write(results, path, options);
    }
    for (const std::string& warning : warnings)
      std::fprintf(stderr, "headwater: %s\n", spelled_for_terminal(warning).c_str());
    warnings.clear();
    if (path != "-" && isatty(STDERR_FILENO)) std::fprintf(stderr, "wrote %s\n", path.c_str());
  }
  if (!paths_.empty()) return;
  for (const Result& result : results) print(std::visit(Show{filter_}, result));
}

void Deliverer::deliver(Result result) const {
  std::vector<Result> results;
  results.push_back(std::move(result));
  deliver(results);
}

void print(const std::string& text) {
  // A full device is only noticed when the buffer is written out.
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    fail(
        "standard output: could not be written ({}), expected room for the text; check the disk or "
        "the pipe",
        std::strerror(errno));
}

}  // namespace headwater::cli
