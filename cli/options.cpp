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
  if (error == std::errc::result_out_of_range)
    fail_usage("{} '{}': is out of range, expected a smaller number; see --help", option, text);
  if (text.empty() || error != std::errc() || stop != end)
    fail_usage("{} '{}': expected a {}number{}; see --help", option, text,
               std::is_integral_v<Number> ? "whole " : "",
               std::is_unsigned_v<Number> ? " from 0 on" : "");
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

std::vector<OptionSpec> item_options() {
  return {
      {"--item", "Which item of a batch: a number from 0, -1 for the last, or 'all'", "K|all",
       [](Arguments& a, const std::string& text) {
         a.all_items = text == "all";
         if (!a.all_items) a.item = parse_integer("--item", text);
       },
       "Source"},
  };
}

std::vector<OptionSpec> file_options() {
  const char* group = "Source";
  return {
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

std::vector<OptionSpec> gradient_options() {
  const char* group = "Target";
  return {
      {"--target",
       "The logit: a class by name or number, a word, token:WORD or an id, start:K or end:K, or "
       "best (default)",
       "T", [](Arguments& a, const std::string& text) { a.gradient.target = text; }, group},
      {"--against", "Another, for the difference of the two; best is the largest but the target",
       "T", [](Arguments& a, const std::string& text) { a.gradient.against = text; }, group},
      {"--rule", "gradient (default), gradient-rollout or chefer", "RULE",
       [](Arguments& a, const std::string& text) { a.gradient.rule = parse_gradient_rule(text); },
       "Options"},
  };
}

Slice one_layer(int k) {
  Slice slice{k, k + 1};
  if (k == -1) slice.end.reset();
  return slice;
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

std::vector<OptionSpec> generate_options() {
  const char* input = "Input of a model";
  const char* group = "Generation";
  return {
      {"--prompt", "The text that the model goes on with", "TEXT",
       [](Arguments& a, const std::string& text) { a.generation.prompt = text; }, input},
      {"--ids", "Tokens by number instead of a prompt; nothing is added to them", "1,2023,...",
       [](Arguments& a, const std::string& text) { a.generation.ids = parse_ids(text); }, input},
      {"--continuation", "A text that is already there: attributed in one pass, nothing is chosen",
       "TEXT", [](Arguments& a, const std::string& text) { a.generation.continuation = text; },
       input},
      {"--count", "How many tokens at most (default: 20)", "N",
       [](Arguments& a, const std::string& text) {
         a.generate.count = parse_integer("--count", text);
       },
       group},
      {"--temperature", "Draw tokens, more evenly the larger it is; 0 (default): the best one", "T",
       [](Arguments& a, const std::string& text) {
         a.generate.temperature = parse_real("--temperature", text);
       },
       group},
      {"--top-k", "With --temperature: draw among the K best", "K",
       [](Arguments& a, const std::string& text) {
         a.generate.top_k = parse_integer("--top-k", text);
       },
       group},
      {"--top-p", "With --temperature: draw among the fewest best that have this share", "P",
       [](Arguments& a, const std::string& text) {
         a.generate.top_p = parse_real("--top-p", text);
       },
       group},
      {"--seed", "With --temperature: the same seed draws the same tokens (default: 0)", "S",
       [](Arguments& a, const std::string& text) {
         a.generate.seed = parse_number<uint64_t>("--seed", text);
       },
       group},
      {"--position", "Attribute a token at the position that predicts it, or at its own",
       "predicting|own",
       [](Arguments& a, const std::string& text) {
         a.generate.own_position = choose("--position", text, {"own", "predicting"});
       },
       group},
      {"--token", "One generated token, from 0: pictures and the terminal show what it leans on",
       "S", [](Arguments& a, const std::string& text) { a.token = parse_integer("--token", text); },
       "Output"},
  };
}

}  // namespace headwater::cli
