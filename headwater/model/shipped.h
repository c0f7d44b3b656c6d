// The models that ship with headwater.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headwater {

/// The folder of the model of that name; none if there is no such model. $HEADWATER_MODELS comes
/// first, then the places where headwater is installed, then the tree that it was built from.
std::optional<std::string> shipped_model(const std::string& name);

/// Their names, in order.
std::vector<std::string> shipped_models();
/// The folder of each.
std::map<std::string, std::string> shipped_model_folders();

}  // namespace headwater
