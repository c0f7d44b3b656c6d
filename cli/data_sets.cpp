// The commands that are part of the Python package: they read and write Parquet with pyarrow.
#include "cli/command.h"
#include "headwater/core/fail.h"

namespace headwater::cli {
namespace {

class PackageCommand : public Command {
 public:
  using Command::Command;

  void declare(OptionList&) override {}
  bool takes_any_words() const override { return true; }
  void run() override {
    fail_usage(
        "{0}: is part of the Python package, which this command does not include, expected the "
        "package's own command; run pip install '.[data]' in the folder of headwater",
        name);
  }
};

}  // namespace

std::unique_ptr<Command> attribute_command() {
  return std::make_unique<PackageCommand>(
      "attribute", "Attribution of a data set, on one machine or many; part of the Python package",
      "headwater attribute my-bert/ reviews.parquet -o out/ --method relevance --shard 0/4");
}

std::unique_ptr<Command> summarise_command() {
  return std::make_unique<PackageCommand>(
      "summarise",
      "Which tokens matter most in a data set, and for which label; part of the Python package",
      "headwater summarise out/ --by label");
}

}  // namespace headwater::cli
