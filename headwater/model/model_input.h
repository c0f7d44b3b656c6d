// What a model is run on.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace headwater {

/// Texts, or ids, or images. Each is one item of a batch.
struct ModelInput {
  std::vector<std::string> texts = {};
  std::optional<std::string> pair = {};  // a second text, for a single first one
  std::vector<int> ids = {};             // tokens by number; nothing is added to them
  std::vector<std::string> images = {};  // files, PNG or JPEG
  bool truncate = false;                 // cut a text that is too long for the model

  bool empty() const { return texts.empty() && !pair && ids.empty() && images.empty(); }
};

/// The lines of a file of texts, a text each. Throws Error, which names the line, for an empty one
/// and for one that is no UTF-8.
std::vector<std::string> read_texts(const std::string& path);

}  // namespace headwater
