#include "headwater/model/shipped.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace headwater {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> places() {
  std::vector<fs::path> places;
  if (const char* given = std::getenv("HEADWATER_MODELS"); given && *given)
    places.emplace_back(given);
  std::error_code missing;
  const fs::path program = fs::read_symlink("/proc/self/exe", missing);
  if (!missing)
    places.push_back(program.parent_path().parent_path() / "share" / "headwater" / "models");
  places.emplace_back(HEADWATER_INSTALLED_MODELS);
  places.emplace_back(HEADWATER_BUILT_MODELS);
  return places;
}

}  // namespace

std::optional<std::string> shipped_model(const std::string& name) {
  // A name, not a way to somewhere else.
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) return {};
  std::error_code missing;
  for (const fs::path& place : places())
    if (fs::exists(place / name / "config.json", missing)) return (place / name).string();
  return {};
}

std::vector<std::string> shipped_models() {
  for (const fs::path& place : places()) {
    std::vector<std::string> names;
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, missing))
      if (fs::exists(entry.path() / "config.json", missing))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    if (!names.empty()) return names;
  }
  return {};
}

}  // namespace headwater
