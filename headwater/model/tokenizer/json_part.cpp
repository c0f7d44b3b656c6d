#include "headwater/model/tokenizer/json_part.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/characters.h"

namespace headwater {

namespace dom = simdjson::dom;

namespace {

template <class Value>
Value get(const dom::element& element, const std::string& what, std::string_view key,
          std::string_view kind) {
  Value value;
  if (element.get(value))
    fail("{}: \"{}\" has the wrong type, expected {}; check the file", what, key, kind);
  return value;
}

}  // namespace

JsonPart::JsonPart(const dom::element& element, std::string what) : what_(std::move(what)) {
  if (element.get(object_)) fail("{}: is not an object, expected {{...}}; check the file", what_);
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : object_) {
    // Components have a handful of options. With thousands, this search would take long.
    constexpr size_t most = 64;
    if (keys.size() == most)
      fail("{}: has more than {} options, expected fewer; check the file", what_, most);
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      fail("{}: has \"{}\" twice, expected it once; check the file", what_, key);
    keys.push_back(key);
  }
}

std::optional<dom::element> JsonPart::find(std::string_view key) {
  asked_.push_back(key);
  dom::element found;
  if (object_.at_key(key).get(found) || found.is_null()) return {};
  return found;
}

bool JsonPart::has(std::string_view key) const {
  dom::element found;
  return !object_.at_key(key).get(found) && !found.is_null();
}

dom::element JsonPart::element(std::string_view key) {
  const auto found = find(key);
  if (!found) fail("{}: has no \"{}\", expected it; check the file", what_, key);
  return *found;
}

std::string JsonPart::text(std::string_view key) {
  return std::string(get<std::string_view>(element(key), what_, key, "a string"));
}

std::string JsonPart::text_or(std::string_view key, std::string otherwise) {
  const auto found = find(key);
  if (!found) return otherwise;
  return std::string(get<std::string_view>(*found, what_, key, "a string"));
}

bool JsonPart::flag(std::string_view key) {
  return get<bool>(element(key), what_, key, "true or false");
}

std::optional<bool> JsonPart::optional_flag(std::string_view key) {
  const auto found = find(key);
  if (!found) return {};
  return get<bool>(*found, what_, key, "true or false");
}

bool JsonPart::flag_or(std::string_view key, bool otherwise) {
  return optional_flag(key).value_or(otherwise);
}

char32_t JsonPart::character(std::string_view key) {
  const auto value = get<std::string_view>(element(key), what_, key, "a string");
  if (value.empty() || static_cast<size_t>(length_of(value[0])) != value.size())
    fail("{}: \"{}\" is '{}', expected one character; check the file", what_, key, value);
  return character_at(value, 0).code;
}

uint64_t JsonPart::count(std::string_view key) {
  return get<uint64_t>(element(key), what_, key, "a whole number");
}

dom::array JsonPart::list(std::string_view key) {
  return get<dom::array>(element(key), what_, key, "a list");
}

dom::object JsonPart::object(std::string_view key) {
  return get<dom::object>(element(key), what_, key, "an object");
}

JsonPart JsonPart::part(std::string_view key) {
  return {element(key), fmt::format("{}: \"{}\"", what_, key)};
}

void JsonPart::finish() const {
  for (const auto& [key, value] : object_) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
      fail(
          "{}: has the option \"{}\", which headwater does not know; remove it if it does not "
          "affect tokens",
          what_, key);
  }
}

void JsonPart::unknown(std::string_view type, std::string_view known) const {
  fail("{} '{}' is not one that headwater knows, expected {}; save the tokenizer with those", what_,
       type, known);
}

int read_id(const dom::element& element, const std::string& what) {
  uint64_t id = 0;
  constexpr uint64_t largest = (1ull << 31) - 1;
  if (element.get(id) || id > largest)
    fail("{}: has an id that is not a whole number from 0 to {}; check the file", what, largest);
  return static_cast<int>(id);
}

}  // namespace headwater
