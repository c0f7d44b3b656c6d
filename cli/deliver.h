// Delivers all that the command has to say: results to files or to standard output.
#pragma once
#include <string>
#include <vector>

#include "cli/options/output.h"
#include "headwater/output/colour.h"
#include "headwater/result/result.h"

namespace headwater::cli {

class Deliverer {
 public:
  /// Checks that every output can be written, so that no work is lost. Throws Error.
  explicit Deliverer(const OutputOptions& output, Filter filter = {});

  /// Writes the results to the outputs, or shows them if there are none. With `list`, even one
  /// result is written as a list. Throws Error if that fails; every file is then either complete or
  /// unchanged.
  void deliver(const std::vector<Result>& results, bool list = false) const;
  void deliver(Result result) const;

 private:
  std::vector<std::string> paths_;
  Filter filter_;
  bool timing_;
  std::string command_, title_;
  Ramp colours_;
};

/// The columns of the terminal, or of $COLUMNS, or 80.
int width_of_terminal();

/// Writes a text to standard output. Throws Error if not all of it could be written.
void print(const std::string& text);

}  // namespace headwater::cli
