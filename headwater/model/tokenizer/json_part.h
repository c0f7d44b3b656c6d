// Reads the parts of a tokenizer.json, with errors that say where.
#pragma once
#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// An object of the file. Ask for every option: finish() rejects those that nothing asked for.
class JsonPart {
 public:
  /// `what` describes the file and the object. Throws Error if `element` is not an object, or has
  /// an option twice.
  JsonPart(const simdjson::dom::element& element, std::string what);

  const std::string& what() const { return what_; }
  bool has(std::string_view key) const;  // and it is not null
  simdjson::dom::element element(std::string_view key);

  std::string text(std::string_view key);
  bool flag(std::string_view key);
  bool flag_or(std::string_view key, bool otherwise);
  std::optional<bool> optional_flag(std::string_view key);
  std::string text_or(std::string_view key, std::string otherwise);
  char32_t character(std::string_view key);
  uint64_t count(std::string_view key);
  simdjson::dom::array list(std::string_view key);
  simdjson::dom::object object(std::string_view key);

  /// A nested object; its name is added to the place in errors.
  JsonPart part(std::string_view key);

  void pass_over(std::string_view key) { asked_.push_back(key); }

  /// Throws Error if the object has an option that nothing asked for.
  void finish() const;

  /// Throws Error: the type is not one of `known`.
  [[noreturn]] void unknown(std::string_view type, std::string_view known) const;

 private:
  std::optional<simdjson::dom::element> find(std::string_view key);

  simdjson::dom::object object_;
  std::string what_;
  std::vector<std::string_view> asked_;
};

/// A token id: a whole number from 0 to 2^31 - 1. Throws Error naming `what`.
int read_id(const simdjson::dom::element& element, const std::string& what);

/// How deep components may be nested.
constexpr int deepest_component = 32;

}  // namespace headwater
