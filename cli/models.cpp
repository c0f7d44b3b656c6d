#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/spelling.h"
#include "headwater/core/fail.h"
#include "headwater/model/hub_cache.h"
#include "headwater/model/list_models.h"
#include "headwater/model/shipped.h"

namespace headwater::cli {
namespace {

std::string size_of(const ListedModel& model) {
  if (model.parameters == 0) return "";
  const double count = static_cast<double>(model.parameters);
  const std::string number = count >= 1e9   ? fmt::format("{:.1f} B", count / 1e9)
                             : count >= 1e7 ? fmt::format("{:.0f} M", count / 1e6)
                                            : fmt::format("{:.1f} M", count / 1e6);
  return fmt::format("{} {}", number, model.types);
}

class ModelsCommand : public Command {
 public:
  ModelsCommand()
      : Command("models", "The models that ship and those in the Hugging Face cache",
                "headwater models") {}

  void declare(OptionList& options) override {
    options.flag("--names", "Only the names, one per line, without opening any", names_);
  }

  void run() override {
    if (names_) {
      std::string text;
      for (const std::string& name : shipped_models()) text += one_line(name) + '\n';
      for (const auto& [name, folder] : cached_model_folders()) text += one_line(name) + '\n';
      print(text);
      return;
    }
    const std::vector<ListedModel> models = list_models();
    size_t names = 4, families = 6, sizes = 4;
    for (const ListedModel& model : models) {
      names = std::max(names, model.name.size());
      families = std::max(families, model.family.size());
      sizes = std::max(sizes, size_of(model).size());
    }
    std::string text;
    const auto row = [&](std::string_view name, std::string_view family, std::string_view size,
                         std::string_view rest) {
      std::string line = fmt::format("{:<{}}  {:<{}}  {:<{}}  {}", name, names, family, families,
                                     size, sizes, rest);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    };
    row("NAME", "FAMILY", "SIZE", "");
    for (const ListedModel& model : models)
      row(one_line(model.name), one_line(model.family), size_of(model),
          !model.problem.empty() ? "cannot be run: " + spelled_for_terminal(model.problem)
          : model.ships          ? "ships with headwater"
                                 : "");
    if (std::ranges::all_of(models, &ListedModel::ships))
      text += fmt::format("No models in the Hugging Face cache, {}\n", one_line(hub_cache()));
    print(text);
  }

 private:
  bool names_ = false;
};

}  // namespace

std::unique_ptr<Command> models_command() { return std::make_unique<ModelsCommand>(); }

}  // namespace headwater::cli
