// Models that Hugging Face's tools have downloaded to this machine.
#pragma once
#include <map>
#include <optional>
#include <string>

namespace headwater {

/// The folder of the cache: $HF_HUB_CACHE, $HF_HOME/hub, or huggingface/hub in the user's cache.
std::string hub_cache();

/// The snapshot of a model in the cache that has a config.json. `name` is OWNER/NAME or NAME, as it
/// was downloaded, or NAME alone if only one owner has it there. With @REVISION, that branch, tag
/// or commit (or the start of one); without it the branch main, or else the newest snapshot. None
/// if there is none. Throws Error if several models or snapshots fit.
std::optional<std::string> cached_model(const std::string& name);

/// All models in the cache, by name, with the folder that cached_model gives.
std::map<std::string, std::string> cached_model_folders();

}  // namespace headwater
