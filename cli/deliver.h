// From a source to what the person sees: opening, running a method on the items asked for, writing
// or showing.
#pragma once
#include <functional>

#include "cli/arguments.h"
#include "headwater/result/result.h"
#include "headwater/source/source.h"

namespace headwater::cli {

/// Checks the outputs, then calls `method` for the item or items that were asked for, then delivers
/// what came back.
void run_items(const Arguments& arguments, const std::function<Result(Batch&, Source&)>& method);
/// The same for a batch that is open already, and outputs that were checked.
void run_items(Batch& batch, const Arguments& arguments,
               const std::function<Result(Batch&, Source&)>& method);

/// Writes the results to the outputs, or shows them where there are none.
void deliver(const std::vector<Result>& results, const Arguments& arguments);

/// Throws Error if one of the outputs cannot be written, before any work is done.
void check_outputs(const Arguments& arguments);

}  // namespace headwater::cli
