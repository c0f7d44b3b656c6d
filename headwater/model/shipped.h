// The models that come with headwater, by name.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace headwater {

/// The folder of the model called `name`, or none. Looked for, in this order, in $HEADWATER_MODELS,
/// in share/headwater/models beside the folder that the running program is in, where headwater was
/// installed, and where it was built.
std::optional<std::string> shipped_model(const std::string& name);

/// Their names, in alphabetical order.
std::vector<std::string> shipped_models();

}  // namespace headwater
