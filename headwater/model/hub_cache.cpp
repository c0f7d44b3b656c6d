#include "headwater/model/hub_cache.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view start = "models--";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// A folder that a variable names. "~" means the home folder even if no shell replaced it.
std::string folder_in(const char* name) {
  std::string path = variable(name);
  if (path == "~" || path.starts_with("~/")) path.replace(0, 1, variable("HOME"));
  return path;
}

// "models--google--bert" for "google/bert".
std::string folder_name(const std::string& name) {
  std::string out(start);
  for (const char c : name) out += c == '/' ? std::string("--") : std::string(1, c);
  return out;
}

std::string model_name(const std::string& folder) {
  std::string name = folder.substr(start.size());
  if (const size_t at = name.find("--"); at != std::string::npos) name.replace(at, 2, "/");
  return name;
}

// Its own config.json, or the list of parts of sentence-transformers, the first of which has one.
bool has_config(const fs::path& snapshot) {
  std::error_code missing;
  return fs::exists(snapshot / "config.json", missing) ||
         fs::exists(snapshot / "modules.json", missing);
}

std::string read_word(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// The entries of a folder that are folders, or links to them.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
    if (entry.is_directory(missing)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::optional<std::string> newest_snapshot(const fs::path& model) {
  const fs::path main = model / "snapshots" / read_word(model / "refs" / "main");
  if (main.filename() != "" && has_config(main)) return main.string();
  // A folder without a config cannot run, but an error can say what it holds.
  std::optional<fs::path> newest;
  std::error_code missing;
  const auto rank = [&](const fs::path& snapshot) {
    return std::pair(has_config(snapshot), fs::last_write_time(snapshot, missing));
  };
  for (const fs::path& snapshot : folders_in(model / "snapshots"))
    if (!fs::is_empty(snapshot, missing) && (!newest || rank(snapshot) > rank(*newest)))
      newest = snapshot;
  if (!newest) return {};
  return newest->string();
}

std::optional<std::string> snapshot_of(const fs::path& model, const std::string& name,
                                       const std::string& revision) {
  std::string commit = read_word(model / "refs" / revision);
  if (commit.empty()) commit = revision;
  std::vector<fs::path> fitting;
  std::error_code missing;
  for (const fs::path& snapshot : folders_in(model / "snapshots"))
    if (snapshot.filename().string().starts_with(commit) && !fs::is_empty(snapshot, missing))
      fitting.push_back(snapshot);
  if (fitting.size() > 1)
    fail("{}: {} snapshots in the cache start with '{}', expected one; give more of the commit",
         name, fitting.size(), revision);
  if (fitting.empty()) return {};
  return fitting[0].string();
}

}  // namespace

std::string hub_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (std::string given = folder_in(name); !given.empty()) return given;
  if (const std::string home = folder_in("HF_HOME"); !home.empty())
    return (fs::path(home) / "hub").string();
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (cache.empty() && home.empty()) return "";
  const fs::path base = cache.empty() ? fs::path(home) / ".cache" : fs::path(cache);
  return (base / "huggingface" / "hub").string();
}

std::optional<std::string> cached_model(const std::string& name) {
  const size_t at = name.find('@');
  const std::string wanted = name.substr(0, at);
  // A name must not lead out of the cache.
  if (wanted.empty() || wanted[0] == '.' || wanted[0] == '/' ||
      name.find("..") != std::string::npos || std::ranges::count(wanted, '/') > 1 ||
      hub_cache().empty())
    return {};
  fs::path model = fs::path(hub_cache()) / folder_name(wanted);
  std::error_code missing;
  if (!fs::exists(model, missing) && wanted.find('/') == std::string::npos) {
    std::vector<std::string> others;
    for (const fs::path& folder : folders_in(hub_cache()))
      if (folder.filename().string().starts_with(start) &&
          folder.filename().string().ends_with("--" + wanted))
        others.push_back(folder.filename().string());
    if (others.size() > 1) {
      for (std::string& one : others) one = model_name(one);
      fail("{}: the Hugging Face cache has {}, expected one of them; give its owner too", wanted,
           fmt::join(others, ", "));
    }
    if (!others.empty()) model = fs::path(hub_cache()) / others[0];
  }
  if (at == std::string::npos) return newest_snapshot(model);
  const std::string revision = name.substr(at + 1);
  return revision.empty() ? std::nullopt : snapshot_of(model, wanted, revision);
}

std::map<std::string, std::string> cached_model_folders() {
  std::map<std::string, std::string> found;
  if (hub_cache().empty()) return found;
  for (const fs::path& folder : folders_in(hub_cache())) {
    const std::string file = folder.filename().string();
    if (!file.starts_with(start)) continue;
    if (const auto snapshot = newest_snapshot(folder)) found.emplace(model_name(file), *snapshot);
  }
  return found;
}

}  // namespace headwater
