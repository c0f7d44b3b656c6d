#include "server/question.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/core/quoted.h"
#include "headwater/layer/resolve.h"
#include "headwater/model/tokenizer/base64.h"

namespace headwater::server {
namespace {

namespace dom = simdjson::dom;

constexpr MethodWords known_methods[] = {
    {"rollout", "row layers fuse residual discard keep"},
    {"flow", "row layers fuse residual discard keep"},
    {"raw", "row layer fuse"},
    {"average", "row layers fuse residual discard keep"},
    {"gradient", "row layers fuse target against rule"},
    {"relevance", "row target against rule"},
    {"generate", "count explain rule"},
    {"compare", "row layers fuse residual discard by other layer"},
};

bool has_word(std::string_view words, std::string_view word) {
  return std::ranges::count(words_of(words), word) > 0;
}

template <class Number>
Number number(std::string_view name, const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end)
    fail_usage("`{}` '{}': is not a number, expected one; change it", name, text);
  return value;
}

Upload upload(std::string_view name, const dom::element& value) {
  std::string_view called, data;
  if (value["name"].get(called) || value["data"].get(data))
    fail_usage("`{}`: is not an object with a name and data, expected one; reload the page", name);
  std::optional<std::string> bytes = decode_base64(data);
  if (!bytes) fail_usage("`{}`: is not base64, expected it; reload the page", name);
  const size_t folder = called.find_last_of("/\\");
  if (folder != std::string_view::npos) called.remove_prefix(folder + 1);
  return {one_line(std::string(called)), std::move(*bytes)};
}

using Take = std::function<void(Question&, const std::string& text)>;

template <class Member>
Take into(Member member) {
  return [member](Question& question, const std::string& text) { question.*member = text; };
}

const std::map<std::string_view, Take>& texts() {
  static const std::map<std::string_view, Take> all = {
      {"model", into(&Question::model)},
      {"method", into(&Question::method)},
      {"text", into(&Question::text)},
      {"pair", into(&Question::pair)},
      {"target", into(&Question::target)},
      {"against", into(&Question::against)},
      {"rule", into(&Question::rule)},
      {"by", into(&Question::by)},
      {"other", into(&Question::other)},
      {"explain", into(&Question::explain)},
      {"row", [](Question& q, const std::string& text) { q.options.row = parse_row(text); }},
      {"layers",
       [](Question& q, const std::string& text) { q.options.layers = parse_slice(text); }},
      {"fuse", [](Question& q, const std::string& text) { q.options.fuse = parse_fuse(text); }},
      {"residual",
       [](Question& q, const std::string& text) {
         q.options.residual = number<double>("residual", text);
       }},
      {"discard",
       [](Question& q, const std::string& text) {
         q.options.discard = number<double>("discard", text);
       }},
      {"layer", [](Question& q, const std::string& text) { q.layer = number<int>("layer", text); }},
      {"count", [](Question& q, const std::string& text) { q.count = number<int>("count", text); }},
      {"item", [](Question& q, const std::string& text) { q.item = number<int>("item", text); }},
      {"example",
       [](Question& q, const std::string& text) { q.example = number<int>("example", text); }},
  };
  return all;
}

// A body may be longer, for files. Tokens of a text take hundreds of times the memory of its bytes.
constexpr size_t most_text = 1'000'000;

constexpr std::string_view of_the_input = "model method text pair item example image file";

void take(Question& question, std::string_view name, const dom::element& value) {
  if (name == "image") {
    question.image = upload(name, value);
  } else if (name == "file") {
    question.file = upload(name, value);
  } else if (name == "keep") {
    if (value.get(question.keep)) fail_usage("`keep`: is not true or false, expected one of them");
  } else if (const auto found = texts().find(name); found != texts().end()) {
    std::string_view text;
    if (value.get(text)) fail_usage("`{}`: is not a text, expected one; reload the page", name);
    found->second(question, std::string(text));
    if (!has_word(of_the_input, name)) question.given.emplace_back(name, text);
  } else {
    std::vector<std::string_view> known = {"image", "file", "keep"};
    for (const auto& [word, take] : texts()) known.push_back(word);
    fail_usage("unknown option '{}'{}", name, suggestion(name, known));
  }
}

// What a comparison sets itself, or has no use for.
void check_comparison(const Question& question) {
  const std::string& by = question.by;
  const auto refuse = [&](std::string_view option) {
    for (const auto& [name, value] : question.given)
      if (name == option)
        fail_usage("`{}`: was given with `by` {}, expected none; leave it out", option,
                   by.empty() ? "method" : by);
  };
  if (by != "layer") refuse("layer");
  if (by == "discard" || by == "head") refuse("discard");
  if (by == "fuse" || by == "head") refuse("fuse");
  if (by == "head") refuse("residual");
  if (by == "model" && question.options.row.kind == Row::Kind::word)
    fail_usage(
        "`row` {}: rows of two models are pieces of the text that both share, expected a number; "
        "see the tokens of the result",
        question.options.row.text);
}

void check(const Question& question, const std::vector<std::string_view>& names) {
  const auto* found = std::ranges::find(known_methods, question.method, &MethodWords::name);
  if (found == std::end(known_methods)) {
    std::vector<std::string_view> known;
    for (const MethodWords& one : known_methods) known.push_back(one.name);
    fail_usage("unknown method '{}'{}", question.method, suggestion(question.method, known));
  }
  for (const std::string_view name : names)
    if (!has_word(of_the_input, name) && !has_word(found->options, name))
      fail_usage("`{}`: {} does not take it, expected {}; leave it out", name, question.method,
                 found->options);
  const int inputs = question.text.has_value() + question.image.has_value() +
                     question.file.has_value() + question.example.has_value();
  if (inputs != 1)
    fail_usage("the question has {} inputs, expected one: a text, an image or a file", inputs);
  for (const auto& [name, text] : {std::pair{"text", &question.text}, {"pair", &question.pair}})
    if (*text && (*text)->size() > most_text)
      fail_usage("`{}`: has {} bytes, expected at most {}; cut it", name, (*text)->size(),
                 most_text);
  if (question.pair && !question.text)
    fail_usage("`pair`: was given without `text`, expected both; add a text");
  if (question.file.has_value() != question.model.empty())
    fail_usage("`model`: expected one for a text or an image, and none for a file of attention");
  if ((question.by == "model") != !question.other.empty())
    fail_usage("`other`: expected a second model for `by` model, and none for anything else");
  if (question.method == "compare") check_comparison(question);
  headwater::check(question.options);
}

}  // namespace

std::span<const MethodWords> methods() { return known_methods; }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Question parse_question(std::string_view json) {
  dom::parser parser;
  dom::object object;
  const simdjson::padded_string text(json);
  if (const auto error = parser.parse(text).get(object))
    fail_usage("the question is not a JSON object ({}), expected one; reload the page",
               simdjson::error_message(error));
  Question question;
  std::vector<std::string_view> names;
  for (const auto& [name, value] : object) {
    if (std::ranges::find(names, name) != names.end())
      fail_usage("the question has '{}' twice, expected it once; reload the page", name);
    names.push_back(name);
    take(question, name, value);
  }
  check(question, names);
  return question;
}

std::string command_of(const Question& question, bool as_prompt) {
  std::string line = "headwater " + question.method;
  const auto add = [&](std::string_view word) { line.append(" ").append(quoted(word)); };
  add(question.file ? question.file->name : question.model);
  if (!question.other.empty()) add(question.other);
  const auto option = [&](std::string_view name, std::string_view value) {
    line.append(" --").append(name);
    add(value);
  };
  if (question.text) option(as_prompt ? "prompt" : "text", *question.text);
  if (question.pair) option("text-pair", *question.pair);
  if (question.image) option("image", question.image->name);
  if (question.item) option("item", std::to_string(*question.item));
  for (const auto& [name, value] : question.given)
    if (name != "other") option(name == "explain" ? "method" : name, value);
  if (question.method == "relevance" && question.rule != "integrated")
    line += " --by-layer --heads";
  if (question.keep) line += " --embed-layers";
  return line + " -o page.html";
}

}  // namespace headwater::server
