// Finds the folder of a model by its name.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "headwater/model/model.h"

namespace headwater {

/// A folder, or the folder of a model that ships or is in the Hugging Face cache under this name;
/// none for anything else. Throws Error if a name in the cache fits several.
std::optional<std::string> find_model(const std::string& name);

/// The same, but a model must exist. Throws Error with the nearest name.
std::string need_model(const std::string& name);

/// The model in that folder. Throws Error as need_model and Model::open do.
std::shared_ptr<const Model> open_model(const std::string& name, bool ignore_code = false);

}  // namespace headwater
