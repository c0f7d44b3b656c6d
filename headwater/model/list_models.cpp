#include "headwater/model/list_models.h"

#include <filesystem>

#include "headwater/core/error.h"
#include "headwater/model/hub_cache.h"
#include "headwater/model/model.h"
#include "headwater/model/pooling.h"
#include "headwater/model/shipped.h"
#include "headwater/model/tokenizer/tokenizer.h"

namespace headwater {
namespace {

ListedModel look_at(const std::string& name, const std::string& folder) {
  ListedModel listed;
  listed.name = name;
  try {
    const std::filesystem::path inside = first_module(folder);
    const std::filesystem::path config = inside / "config.json";
    std::error_code missing;
    if (std::filesystem::exists(config, missing))
      listed.family = Config::open(config.string()).text_or("model_type", "");
    const std::unique_ptr<Model> model = Model::open(folder);
    listed.parameters = model->checkpoint().parameters();
    listed.types = model->checkpoint().types();
    model->tokenizer();  // fails if it cannot be read
  } catch (const Error& error) {
    listed.problem = error.what();
    // The folder says nothing that the name does not.
    if (listed.problem.starts_with(folder + ": ")) listed.problem.erase(0, folder.size() + 2);
    if (listed.problem.starts_with(folder + "/")) listed.problem.erase(0, folder.size() + 1);
  }
  return listed;
}

}  // namespace

std::vector<ListedModel> list_models() {
  std::vector<ListedModel> all;
  for (const auto& [name, folder] : shipped_model_folders()) {
    all.push_back(look_at(name, folder));
    all.back().ships = true;
  }
  for (const auto& [name, folder] : cached_model_folders()) all.push_back(look_at(name, folder));
  return all;
}

}  // namespace headwater
