#include "headwater/model/find_model.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/model/shipped.h"

namespace headwater {
namespace {

std::string known_models(const std::string& name) {
  const std::vector<std::string> names = shipped_models();
  if (names.empty()) return "; check the name";
  const std::string_view near =
      nearest(name, std::vector<std::string_view>(names.begin(), names.end()));
  if (near.empty()) return fmt::format("; these are {}", fmt::join(names, ", "));
  return fmt::format("; did you mean '{}'?", near);
}

}  // namespace

std::optional<std::string> find_model(const std::string& name) {
  std::error_code missing;
  if (std::filesystem::is_directory(name, missing)) return name;
  if (std::filesystem::exists(name, missing)) return {};
  return shipped_model(name);
}

std::string need_model(const std::string& name) {
  if (auto folder = find_model(name)) return *folder;
  std::error_code missing;
  if (std::filesystem::exists(name, missing))
    fail(
        "{}: is a file, expected a model directory or the name of a model that ships; for example "
        "verb-number",
        name);
  fail("{}: does not exist, expected a model directory or the name of a model that ships{}", name,
       known_models(name));
}

std::shared_ptr<const Model> open_model(const std::string& name, bool ignore_code) {
  return Model::open(need_model(name), ignore_code);
}

}  // namespace headwater
