// A source by its name: a file of attention, or a model and what it is run on.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "cli/arguments.h"
#include "headwater/source/source.h"

namespace headwater::cli {

/// The folder of the model that `name` means: a model directory, or a model that ships. None for
/// anything else.
std::optional<std::string> model_folder(const std::string& name);

/// The same for a command that needs a model. Throws Error, with the nearest of those that ship.
std::string needed_model(const std::string& name);

/// Throws Error as open_batch and open_model do, and (usage) where options of files were given for
/// a model or the other way round.
std::unique_ptr<Batch> open_source(const std::string& name, const Arguments& arguments);

/// Whether anything was given for a model to run on.
bool has_input(const Arguments& arguments);

}  // namespace headwater::cli
