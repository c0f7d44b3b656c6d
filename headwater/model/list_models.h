// The models that can be opened by name.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace headwater {

struct ListedModel {
  std::string name;
  bool ships = false;  // or it is in the Hugging Face cache
  std::string family;  // "": config.json does not say
  uint64_t parameters = 0;
  std::string types;    // of the weights: "f32"
  std::string problem;  // why it cannot be run; "": it can
};

/// Those that ship, then those in the cache, in the order of their names. Opens each one, which
/// reads little of its weights.
std::vector<ListedModel> list_models();

}  // namespace headwater
