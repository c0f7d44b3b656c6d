// The library's sentences, spelled for a terminal.
#pragma once
#include <string>

namespace headwater::cli {

/// The library names options by their words in backticks, `top_k`. Here they become what a person
/// types, --top-k. Control characters become '?', so that the sentence stays on one line.
std::string spelled_for_terminal(const std::string& sentence);

}  // namespace headwater::cli
