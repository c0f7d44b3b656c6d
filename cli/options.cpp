#include "cli/options.h"

#include <array>
#include <charconv>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"
#include "headwater/source/json.h"

namespace headwater::cli {
namespace {

template <class Number>
Number parse_number(std::string_view option, std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end)
    fail_usage("{} '{}': expected a number; see --help", option, text);
  return value;
}

// True for the first of two words, false for the second.
bool choose(std::string_view option, std::string_view text,
            const std::array<std::string_view, 2>& words) {
  if (text != words[0] && text != words[1])
    fail_usage("unknown {} '{}'{}", option, text, suggestion(text, words));
  return text == words[0];
}

std::vector<int> parse_ids(const std::string& text) {
  std::vector<int> ids;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    ids.push_back(parse_integer("--ids", std::string_view(text).substr(at, comma - at)));
    at = comma + 1;
  }
  return ids;
}

}  // namespace

int parse_integer(std::string_view option, std::string_view text) {
  return parse_number<int>(option, text);
}

double parse_real(std::string_view option, std::string_view text) {
  return parse_number<double>(option, text);
}

std::vector<OptionSpec> input_options() {
  const char* group = "Input of a model";
  return {
      {"--text", "The text that a model reads", "TEXT",
       [](Arguments& a, const std::string& text) { a.input.texts = {text}; }, group},
      {"--text-pair", "A second text beside --text, as the model's tokenizer pairs them", "TEXT",
       [](Arguments& a, const std::string& text) { a.input.pair = text; }, group},
      {"--text-file", "A file of texts, one a line; each is an item of a batch", "FILE",
       [](Arguments& a, const std::string& text) { a.text_file = text; }, group},
      {"--ids", "Tokens by number instead of a text; nothing is added to them", "101,2023,...",
       [](Arguments& a, const std::string& text) { a.input.ids = parse_ids(text); }, group},
      {"--image", "The image that a vision model sees: PNG or JPEG", "FILE",
       [](Arguments& a, const std::string& text) { a.input.images = {text}; }, group},
  };
}

std::vector<OptionSpec> file_options() {
  const char* group = "Source";
  return {
      {"--item", "Which item of a batch: a number from 0, -1 for the last, or 'all'", "K|all",
       [](Arguments& a, const std::string& text) {
         a.all_items = text == "all";
         if (!a.all_items) a.item = parse_integer("--item", text);
       },
       group},
      {"--axes", "What the axes are, as letters: L layers, B batch, H heads, n rows, n columns",
       "LBHnn", [](Arguments& a, const std::string& text) { a.read.axes = text; }, group},
      {"--tokens", "Tokens for a source that has none: one a line, or a JSON list in a .json",
       "FILE", [](Arguments& a, const std::string& text) { a.read.tokens = read_tokens(text); },
       group},
      {"--sums", "'any' takes rows that do not sum to 1 (default: checked)", "any|checked",
       [](Arguments& a, const std::string& text) {
         a.read.any_sums = choose("--sums", text, {"any", "checked"});
       },
       group},
      {"--nan", "'identity' replaces a head's bad row (NaN, infinite, negative); default: error",
       "identity|error",
       [](Arguments& a, const std::string& text) {
         a.read.nan_identity = choose("--nan", text, {"identity", "error"});
       },
       group},
  };
}

std::vector<OptionSpec> machine_options() {
  const char* group = "Machine";
  return {
      {"--threads", "How many threads (default: the cores there are)", "N",
       [](Arguments&, const std::string& text) {
         const int count = parse_integer("--threads", text);
         if (count < 1 || count > 1024)
           fail_usage("--threads {}: expected 1 to 1024; leave it out", count);
         set_threads(count);
       },
       group},
      {"--kernel", "Force an instruction set; 'headwater info' names the one in use", "NAME",
       [](Arguments&, const std::string& text) { kernel::use(text); }, group},
  };
}

}  // namespace headwater::cli
