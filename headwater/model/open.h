// From a model directory and something to read to attention.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/source/info.h"
#include "headwater/source/source.h"

namespace headwater {

/// What a model is run on: texts, or ids, or images. Each is one item of a batch.
struct ModelInput {
  std::vector<std::string> texts;
  std::optional<std::string> pair;            // a second text, for a single first one
  std::vector<int> ids;                       // tokens by number; nothing is added to them
  std::vector<std::string> images;            // files, PNG or JPEG
  std::string name;                           // what results call the model; "": the folder
  bool truncate = false;                      // cut a text that is too long for the model
  const char* advice = "--truncate cuts it";  // about such a text, in messages
};

/// The model in `folder` as transformers saves it, to be run on `input` when a method asks. Texts
/// are tokenized here, so that what is wrong with one shows before any work. Throws Error, also for
/// a text that gives no token of its own.
std::unique_ptr<Batch> open_model(const std::string& folder, const ModelInput& input);

/// What `folder` holds, without anything to run it on.
Info model_info(const std::string& folder);

/// The lines of a file of texts, a text each. Throws Error, which names the line, for an empty one
/// and for one that is no UTF-8.
std::vector<std::string> read_texts(const std::string& path);

}  // namespace headwater
