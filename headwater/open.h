// Opens attention by name: a file, a model folder, or a model that ships with headwater.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "headwater/model/generation_input.h"
#include "headwater/model/model_input.h"
#include "headwater/source/generation.h"
#include "headwater/source/read_options.h"
#include "headwater/source/source.h"

namespace headwater {

/// How to open a name.
struct OpenOptions {
  ModelInput input = {};  // for a model: what to run it on
  ReadOptions read = {};  // for a file: how to read it
};

/// The attention behind `name`:
///   a file .npy .npz .safetensors .json   as in docs/formats.md; mapped, and read layer by layer
///                                         when a method asks
///   a folder as transformers saves it     its model, run on options.input when a method asks
///   a name without a file or folder       a model that ships with headwater, or one in the local
///                                         Hugging Face cache, as NAME or NAME@REVISION
/// A model without input gives a batch without items. Throws Error; a usage error for `read`
/// options with a model, or an input with a file.
std::unique_ptr<Batch> open_batch(const std::string& name, const OpenOptions& options = {});

/// Its only item, or item `item` (-1 is the last). Throws Error if there are several and `item` is
/// not set, and for a model without input.
std::unique_ptr<Source> open(const std::string& name, const OpenOptions& options = {},
                             std::optional<int> item = {});

/// The same as open(name, {.input = input}).
std::unique_ptr<Source> open(const std::string& name, const ModelInput& input);

/// A model that will generate text. Throws Error if `name` is not a model, if the model cannot
/// generate, and for a prompt without tokens.
std::unique_ptr<Generation> open_generation(const std::string& name, const GenerationInput& input);

/// The same for several texts of one model, which is opened once, here.
using OpenInput = std::function<std::unique_ptr<Generation>(const GenerationInput& input)>;
OpenInput open_generations(const std::string& name, bool ignore_code = false);

}  // namespace headwater
