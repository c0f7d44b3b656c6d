// Options that several commands share, as data: what they are called, say and do.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"

namespace headwater::cli {

struct OptionSpec {
  const char* names;
  const char* about;
  const char* value;  // what stands for its value in the help
  std::function<void(Arguments&, const std::string&)> take;
  const char* group;  // of the help
};

/// How a file is read.
std::vector<OptionSpec> file_options();
/// Which item of a batch is meant.
std::vector<OptionSpec> item_options();
/// What a model is run on.
std::vector<OptionSpec> input_options();
std::vector<OptionSpec> machine_options();
/// What a model writes after, how much, and how it chooses.
std::vector<OptionSpec> generate_options();
/// What is differentiated, and what becomes of the maps.
std::vector<OptionSpec> gradient_options();
/// What is evaluated, and against what.
std::vector<OptionSpec> evaluate_options();

/// Layer k alone.
Slice one_layer(int k);

/// The number that an option was given. Throws Error (usage) for anything else.
int parse_integer(std::string_view option, std::string_view text);
double parse_real(std::string_view option, std::string_view text);

}  // namespace headwater::cli
