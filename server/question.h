// What a page asks: an input, a method and its options, in the words of the command line.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headwater/layer/options.h"

namespace headwater::server {

/// A file that was dropped on the page. Its name is shown and its ending read, but it is never used
/// as a path.
struct Upload {
  std::string name, bytes;
};

struct Question {
  std::string model;  // one of those that are served; "": `file` has the attention
  std::string method = "rollout";
  std::optional<std::string> text, pair;
  std::optional<Upload> image, file;
  std::optional<int> example;  // in place of `image`: the model's own example of this number
  std::optional<int> item;     // of a file's batch
  std::string target = "best", against, rule;
  std::string by, other;  // for compare: what, and the second model
  std::string explain;    // for generate: rollout or relevance
  Options options;        // row, layers, fuse, residual, discard
  int layer = -1;         // for raw and compare by layer
  int count = 20;         // for generate
  bool keep = false;      // every layer's map, for a page that changes layers
  /// The options as they came, for command_of().
  std::vector<std::pair<std::string, std::string>> given;
};

/// Reads a JSON object with text values: {"model": "facts", "method": "rollout", "text": "..."};
/// `image` and `file` are objects {"name", "data"} with base64, `keep` is true or false. Throws
/// Error (usage) for an unknown name or value, for one that the method does not take, and for
/// inputs that do not go together.
Question parse_question(std::string_view json);

/// The line that makes the same page with the command. `as_prompt`: the text is one that the model
/// continues.
std::string command_of(const Question& question, bool as_prompt);

struct MethodWords {
  std::string_view name,
      options;  // the options' names, apart from the input's, with spaces between
};
/// The methods, in the order of the command's help.
std::span<const MethodWords> methods();
/// The words between the spaces.
std::vector<std::string> words_of(std::string_view text);

}  // namespace headwater::server
