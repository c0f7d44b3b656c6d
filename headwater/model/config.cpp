#include "headwater/model/config.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/parse_json.h"

namespace headwater {

namespace dom = simdjson::dom;

struct Config::State {
  std::string name;
  std::string inside;  // before the names of its entries in unknown()
  dom::parser parser;
  dom::object object;
  std::set<std::string, std::less<>> asked;
  std::map<std::string, std::string, std::less<>> other_names;
  // One list for the file: objects inside share it.
  std::shared_ptr<std::vector<std::string>> unknown = std::make_shared<std::vector<std::string>>();
};

Config::Config(std::unique_ptr<State> state) : state_(std::move(state)) {}
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

Config Config::open(const std::string& path) {
  const MappedFile file(path);
  constexpr size_t longest = 16 << 20;
  if (file.bytes().size() > longest)
    fail("{}: is {} bytes long, expected a few thousand; check the file", path,
         file.bytes().size());
  return parse(as_text(file.bytes()), path);
}

Config Config::parse(std::string_view json, const std::string& name) {
  auto state = std::make_unique<State>();
  state->name = name;
  if (const auto error = parse_json(state->parser, json, state->object))
    fail("{}: is not a JSON object ({}), expected one; check the file", name,
         simdjson::error_message(error));
  std::set<std::string_view> keys;
  for (const auto& [key, value] : state->object)
    if (!keys.insert(key).second)
      fail("{}: has '{}' twice, expected it once; check the file", name, key);
  return Config(std::move(state));
}

const std::string& Config::name() const { return state_->name; }

namespace {

std::string in_a_few_words(const dom::element& value) {
  std::string text = simdjson::minify(value);
  constexpr size_t enough = 60;
  if (text.size() > enough) text = text.substr(0, enough) + "...";
  return text;
}

// The entry, maybe under its other name, if it is there. It may be null.
template <class State>
std::optional<dom::element> find(State& state, std::string_view key) {
  state.asked.emplace(key);
  dom::element value;
  const bool missing = state.object[key].get(value) || value.is_null();
  const auto other = state.other_names.find(key);
  dom::element same;
  if (missing && other != state.other_names.end() && !state.object[other->second].get(same))
    return same;
  if (state.object[key].get(value)) return {};
  return value;
}

}  // namespace

void Config::also_named(std::string_view key, std::string_view other) const {
  if (has(key) && has(other) && shown(key) != shown(other))
    fail("{}: '{}' is {} and '{}', another name of it, is {}, expected the same; check the file",
         state_->name, key, shown(key), other, shown(other));
  state_->other_names.emplace(key, other);
}

bool Config::has(std::string_view key) const {
  const auto value = find(*state_, key);
  return value && !value->is_null();
}

bool Config::is_null(std::string_view key) const {
  const auto value = find(*state_, key);
  return value && value->is_null();
}

bool Config::is_list(std::string_view key) const {
  const auto value = find(*state_, key);
  return value && value->is_array();
}

namespace {

template <class State>
dom::element entry(State& state, std::string_view key) {
  const auto value = find(state, key);
  if (!value || value->is_null())
    fail("{}: has no '{}', expected one; check that it is the config of this model", state.name,
         key);
  return *value;
}

template <class State>
[[noreturn]] void refuse(const State& state, std::string_view key, const dom::element& value,
                         std::string_view expected) {
  fail("{}: '{}' is {}, expected {}; check the file", state.name, key, in_a_few_words(value),
       expected);
}

template <class State>
[[noreturn]] void not_implemented(const State& state, std::string_view key,
                                  const dom::element& value, std::string_view expected) {
  fail("{}: '{}' is {}, which headwater does not implement, expected {}; use another model",
       state.name, key, in_a_few_words(value), expected);
}

}  // namespace

int Config::integer(std::string_view key, int64_t least) const {
  const dom::element value = entry(*state_, key);
  int64_t number;
  if (value.get(number) || number < least || number > most)
    refuse(*state_, key, value, fmt::format("a whole number from {} to {}", least, most));
  return static_cast<int>(number);
}

int Config::integer_or(std::string_view key, int otherwise, int64_t least) const {
  return has(key) ? integer(key, least) : otherwise;
}

double Config::number(std::string_view key) const {
  const dom::element value = entry(*state_, key);
  double number;
  if (value.get(number) || !std::isfinite(number)) refuse(*state_, key, value, "a number");
  return number;
}

double Config::number_or(std::string_view key, double otherwise) const {
  return has(key) ? number(key) : otherwise;
}

bool Config::flag_or(std::string_view key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const dom::element value = entry(*state_, key);
  bool flag;
  if (value.get(flag)) refuse(*state_, key, value, "true or false");
  return flag;
}

std::string Config::text(std::string_view key) const {
  const dom::element value = entry(*state_, key);
  std::string_view text;
  if (value.get(text)) refuse(*state_, key, value, "a string");
  return std::string(text);
}

std::string Config::text_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

std::vector<std::string> Config::texts(std::string_view key) const {
  const dom::element value = entry(*state_, key);
  dom::array list;
  if (value.get(list)) refuse(*state_, key, value, "a list of strings");
  std::vector<std::string> texts;
  for (const dom::element one : list) {
    std::string_view text;
    if (one.get(text)) refuse(*state_, key, value, "a list of strings");
    texts.emplace_back(text);
  }
  return texts;
}

std::vector<int> Config::integers(std::string_view key) const {
  const dom::element value = entry(*state_, key);
  dom::array list;
  if (value.get(list)) return {integer(key, 0)};
  std::vector<int> numbers;
  for (const dom::element one : list) {
    int64_t number;
    if (one.get(number) || number < 0 || number > most)
      refuse(*state_, key, value, "a number, or a list of numbers");
    numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

std::vector<double> Config::numbers(std::string_view key) const {
  const dom::element value = entry(*state_, key);
  dom::array list;
  if (value.get(list)) refuse(*state_, key, value, "a list of numbers");
  std::vector<double> numbers;
  for (const dom::element one : list) {
    double number;
    if (one.get(number) || !std::isfinite(number)) refuse(*state_, key, value, "a list of numbers");
    numbers.push_back(number);
  }
  return numbers;
}

int Config::square(std::string_view key) const {
  const dom::element value = entry(*state_, key);
  dom::array list;
  int64_t side;
  if (!value.get(list)) {
    int64_t other;
    if (list.size() != 2 || list.at(0).get(side) || list.at(1).get(other) || side != other)
      not_implemented(*state_, key, value, "a number, or the same one twice");
  } else if (value.get(side)) {
    refuse(*state_, key, value, "a whole number");
  }
  if (side < 1 || side > 1 << 15) refuse(*state_, key, value, "1 to 32768");
  return static_cast<int>(side);
}

std::vector<std::string> Config::labels() const {
  pass_over({"label2id", "num_labels"});
  if (!has("id2label")) return {};
  const dom::element value = entry(*state_, "id2label");
  dom::object classes;
  if (value.get(classes)) refuse(*state_, "id2label", value, "an object");
  // The largest that people use have about 50,000.
  constexpr size_t most_labels = size_t{1} << 20;
  std::vector<std::string> labels;
  for (const auto& [number, label] : classes) {
    std::string_view text;
    int64_t plain;
    std::string name;
    if (!label.get(text))
      name = text;
    else if (!label.get(plain))
      name = std::to_string(plain);
    else
      refuse(*state_, "id2label", value, "strings or whole numbers");
    size_t index = 0;
    for (const char digit : number) {
      index = index * 10 + static_cast<size_t>(digit - '0');
      if (digit < '0' || digit > '9' || index >= most_labels)
        refuse(*state_, "id2label", value,
               fmt::format("class numbers below {} as keys", most_labels));
    }
    if (index >= labels.size()) labels.resize(index + 1);
    labels[index] = std::move(name);
  }
  return labels;
}

std::optional<Config> Config::object(std::string_view key) const {
  if (!has(key)) return {};
  const dom::element value = entry(*state_, key);
  dom::object object;
  if (value.get(object)) refuse(*state_, key, value, "an object");
  Config inside = parse(simdjson::minify(value), fmt::format("{}: {}", state_->name, key));
  inside.state_->inside = fmt::format("{}{}.", state_->inside, key);
  inside.state_->unknown = state_->unknown;
  return inside;
}

void Config::expect_flag(std::string_view key, bool value) const {
  if (has(key) && flag_or(key, value) != value)
    not_implemented(*state_, key, entry(*state_, key), value ? "true" : "false");
}

void Config::expect_text(std::string_view key, std::string_view value) const {
  if (has(key) && text(key) != value)
    not_implemented(*state_, key, entry(*state_, key), fmt::format("\"{}\"", value));
}

void Config::expect_number(std::string_view key, int value) const {
  if (!has(key)) return;
  const dom::element found = entry(*state_, key);
  double number;
  if (found.get(number) || number != value)
    not_implemented(*state_, key, found, std::to_string(value));
}

void Config::expect_empty(std::string_view key) const {
  if (!has(key)) return;
  const dom::element value = entry(*state_, key);
  dom::array list;
  dom::object object;
  const bool empty =
      (!value.get(list) && list.size() == 0) || (!value.get(object) && object.size() == 0);
  if (!empty) not_implemented(*state_, key, value, "none");
}

void Config::pass_over(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) state_->asked.emplace(key);
}

void Config::finish() const {
  for (const auto& [key, value] : state_->object)
    if (!state_->asked.contains(key) && !value.is_null()) {
      std::string name = state_->inside + std::string(key);
      // An object inside may be read twice.
      if (std::ranges::find(*state_->unknown, name) == state_->unknown->end())
        state_->unknown->push_back(std::move(name));
    }
}

const std::vector<std::string>& Config::unknown() const { return *state_->unknown; }

std::string Config::shown(std::string_view key) const {
  return has(key) ? in_a_few_words(entry(*state_, key)) : "";
}

std::vector<std::string> Config::keys(std::string_view key) const {
  dom::object object;
  if (!has(key) || entry(*state_, key).get(object)) return {};
  std::vector<std::string> names;
  for (const auto& [name, value] : object) names.emplace_back(name);
  return names;
}

}  // namespace headwater
