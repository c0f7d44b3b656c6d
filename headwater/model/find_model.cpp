#include "headwater/model/find_model.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/model/hub_cache.h"
#include "headwater/model/shipped.h"

namespace headwater {
namespace {

bool is_named_like_an_image(std::string_view name) {
  return name.ends_with(".png") || name.ends_with(".jpg") || name.ends_with(".jpeg");
}

std::string known_models(const std::string& name) {
  if (is_named_like_an_image(name)) return "; give an image to a vision model, with `image`";
  const std::vector<std::string> shipped = shipped_models();
  std::vector<std::string> names = shipped;
  for (const auto& [cached, folder] : cached_model_folders()) names.push_back(cached);
  const std::string_view near =
      nearest(name, std::vector<std::string_view>(names.begin(), names.end()));
  const size_t at = name.find('@');
  // If only the requested revision is missing, no other name is better.
  if (!near.empty() && near != name.substr(0, at)) return fmt::format("; did you mean '{}'?", near);
  const std::string models =
      shipped.empty() ? "" : fmt::format("; headwater ships {}", fmt::join(shipped, ", "));
  const std::string revision =
      at == std::string::npos ? "" : fmt::format(" --revision {}", name.substr(at + 1));
  return fmt::format("{}; 'hf download {}{}' gets a model from Hugging Face", models,
                     name.substr(0, at), revision);
}

}  // namespace

std::optional<std::string> find_model(const std::string& name) {
  std::error_code missing;
  if (std::filesystem::is_directory(name, missing)) return name;
  if (std::filesystem::exists(name, missing)) return {};
  if (auto shipped = shipped_model(name)) return shipped;
  return cached_model(name);
}

std::string need_model(const std::string& name) {
  if (auto folder = find_model(name)) return *folder;
  std::error_code missing;
  if (std::filesystem::exists(name, missing))
    fail(
        "{}: is a file, expected a model directory or the name of a model; for example verb-number",
        name);
  fail(
      "{}: does not exist, expected a model directory, or the name of a model that ships or is in "
      "the Hugging Face cache{}",
      name, known_models(name));
}

std::shared_ptr<const Model> open_model(const std::string& name, bool ignore_code) {
  return Model::open(need_model(name), ignore_code, Side::text, name);
}

}  // namespace headwater
