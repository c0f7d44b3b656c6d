// From a name to attention: a file, a model folder, or a model by its name.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "headwater/model/generation_input.h"
#include "headwater/model/model_input.h"
#include "headwater/source/generation.h"
#include "headwater/source/read_options.h"
#include "headwater/source/source.h"

namespace headwater {

/// What goes with a name.
struct OpenOptions {
  ModelInput input = {};  // of a model: what it is run on
  ReadOptions read = {};  // of a file: how it is read
};

/// The attention that `name` stands for:
///   a file .npy .npz .safetensors .json    as docs/formats.md says; mapped, and read layer by
///   layer
///                                          when a method asks
///   a folder as transformers saves it      the model in it, run on options.input when a method
///   asks a name without a file or folder        a model that ships with headwater
/// The batch of a model without input has no items. Throws Error, also (usage) for `read` options
/// beside a model and for an input beside a file.
std::unique_ptr<Batch> open_batch(const std::string& name, const OpenOptions& options = {});

/// The only item of that, or item `item` (-1 is the last). Throws Error if there are several and
/// `item` is none, and for a model without input.
std::unique_ptr<Source> open(const std::string& name, const OpenOptions& options = {},
                             std::optional<int> item = {});

/// The same as open(name, {.input = input}).
std::unique_ptr<Source> open(const std::string& name, const ModelInput& input);

/// A model that is to write a text. Throws Error for a name that is no model, for a model that
/// cannot write, and for a prompt without tokens.
std::unique_ptr<Generation> open_generation(const std::string& name, const GenerationInput& input);

}  // namespace headwater
