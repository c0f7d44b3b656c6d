// Reading the parts of a tokenizer.json with errors that say where.
#pragma once
#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// An object of the file. Every option must be asked for: finish() refuses those that nobody knows.
class JsonPart {
 public:
  /// `what` is the file and the object in words. Throws Error if `element` is no object, or has an
  /// option twice.
  JsonPart(const simdjson::dom::element& element, std::string what);

  const std::string& what() const { return what_; }
  bool has(std::string_view key) const;  // and is not null
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

  /// An object inside, its name said with the place.
  JsonPart part(std::string_view key);

  void pass_over(std::string_view key) { asked_.push_back(key); }

  /// Throws Error if the object has an option that was not asked for.
  void finish() const;

  /// Throws Error: this is of a type that is not among `known`.
  [[noreturn]] void unknown(std::string_view type, std::string_view known) const;

 private:
  std::optional<simdjson::dom::element> find(std::string_view key);

  simdjson::dom::object object_;
  std::string what_;
  std::vector<std::string_view> asked_;
};

/// A token id: a whole number from 0 to 2^31 - 1. Throws Error naming `what`.
int read_id(const simdjson::dom::element& element, const std::string& what);

/// Components inside components: how deep, at most.
constexpr int deepest_component = 32;

}  // namespace headwater
