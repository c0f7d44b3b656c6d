// The logit that gradient and relevance ask about.
#pragma once
#include <string>

#include "cli/option_list.h"

namespace headwater::cli {

/// Declares --target and --against, which are read into these two.
void declare_target(OptionList& options, std::string& target, std::string& against);

}  // namespace headwater::cli
