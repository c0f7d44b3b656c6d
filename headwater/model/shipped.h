// The models that ship with headwater.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headwater {

/// The folder of the model with that name, if there is one. Looks in $HEADWATER_MODELS first, then
/// where headwater is installed, then in the tree that it was built from.
std::optional<std::string> shipped_model(const std::string& name);

/// Their names, in order.
std::vector<std::string> shipped_models();
/// The folder of each.
std::map<std::string, std::string> shipped_model_folders();

}  // namespace headwater
