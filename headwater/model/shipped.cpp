#include "headwater/model/shipped.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace headwater {
namespace {

namespace fs = std::filesystem;

// The file that contains this code: the command, a shared library, or Python's module.
std::optional<fs::path> own_file() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&shipped_models), &info) == 0 || !info.dli_fname)
    return {};
  std::error_code missing;
  const fs::path program = fs::read_symlink("/proc/self/exe", missing);
  const fs::path loaded = fs::weakly_canonical(info.dli_fname, missing);
  // For a program, dladdr gives the name it was called by, which need not be a path.
  return fs::is_regular_file(loaded, missing) ? loaded : program;
}

std::vector<fs::path> places() {
  std::vector<fs::path> places;
  if (const char* given = std::getenv("HEADWATER_MODELS"); given && *given)
    places.emplace_back(given);
  const fs::path below = fs::path("share") / "headwater" / "models";
  if (const std::optional<fs::path> file = own_file()) {
    places.push_back(file->parent_path() / below);                // a Python package
    places.push_back(file->parent_path().parent_path() / below);  // bin/ or lib/ of a prefix
  }
  places.emplace_back(HEADWATER_INSTALLED_MODELS);
  places.emplace_back(HEADWATER_BUILT_MODELS);
  return places;
}

}  // namespace

std::map<std::string, std::string> shipped_model_folders() {
  for (const fs::path& place : places()) {
    std::map<std::string, std::string> found;
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, missing))
      if (fs::exists(entry.path() / "config.json", missing))
        found.emplace(entry.path().filename().string(), entry.path().string());
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<std::string> shipped_models() {
  std::vector<std::string> names;
  for (const auto& [name, folder] : shipped_model_folders()) names.push_back(name);
  return names;
}

std::optional<std::string> shipped_model(const std::string& name) {
  // A name must not be a path.
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) return {};
  std::error_code missing;
  for (const fs::path& place : places())
    if (fs::exists(place / name / "config.json", missing)) return (place / name).string();
  return {};
}

}  // namespace headwater
