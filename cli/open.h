// The source that a command line names.
#pragma once
#include <memory>
#include <string>

#include "cli/arguments.h"
#include "headwater/source/source.h"

namespace headwater::cli {

/// headwater::open_batch with what was typed. Throws Error as that does.
std::unique_ptr<Batch> open_source(const std::string& name, const Arguments& arguments);

}  // namespace headwater::cli
