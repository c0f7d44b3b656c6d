// Reads config.json and ignores no entry silently: each is used, known to have no effect, refused,
// or named as unknown.
#pragma once
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// A JSON object with entries by name. null counts as missing. Every function throws Error if an
/// entry has the wrong type or is out of range.
class Config {
 public:
  /// Throws Error if the file is missing or not a JSON object.
  static Config open(const std::string& path);
  static Config parse(std::string_view json, const std::string& name);
  Config(Config&&) noexcept;
  Config& operator=(Config&&) noexcept;
  ~Config();

  /// Its name in messages: the file, and the place in it.
  const std::string& name() const;
  bool has(std::string_view key) const;
  /// Whether the entry is there and null. null means none; a missing entry means the default.
  bool is_null(std::string_view key) const;
  bool is_list(std::string_view key) const;
  /// From now on, `key` is read under its other name where it is missing. Throws Error if the entry
  /// is there under both and differs.
  void also_named(std::string_view key, std::string_view other) const;

  /// The largest count that a model may claim for anything.
  static constexpr int64_t most = int64_t{1} << 24;
  int integer(std::string_view key, int64_t least = 1) const;
  int integer_or(std::string_view key, int otherwise, int64_t least = 1) const;
  double number(std::string_view key) const;
  double number_or(std::string_view key, double otherwise) const;
  bool flag_or(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key) const;
  std::string text_or(std::string_view key, std::string_view otherwise) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// A number, or a list of numbers.
  std::vector<int> integers(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  /// A number, or a list of two equal numbers (sizes of images and patches).
  int square(std::string_view key) const;
  /// "id2label": the names of classes 0, 1, ...; empty if there are none.
  std::vector<std::string> labels() const;
  /// The object under `key`. Call its own finish() as well, before this one's.
  std::optional<Config> object(std::string_view key) const;

  /// Throws Error unless the entry is missing or has this value: nothing else is implemented.
  void expect_flag(std::string_view key, bool value) const;
  void expect_text(std::string_view key, std::string_view value) const;
  void expect_number(std::string_view key, int value) const;
  /// Throws Error unless the entry is missing or is an empty list or object.
  void expect_empty(std::string_view key) const;
  /// Marks entries whose values have no effect here.
  void pass_over(std::initializer_list<std::string_view> keys) const;
  /// Adds the entries that nothing asked for to unknown().
  void finish() const;
  /// Their names, with those of objects inside: "rope_scaling.finetuned".
  const std::vector<std::string>& unknown() const;
  /// An entry's value in a few words, for a message; "" if it is missing.
  std::string shown(std::string_view key) const;
  /// The names of the entries of the object under `key`; none if it is missing or no object.
  std::vector<std::string> keys(std::string_view key) const;

 private:
  struct State;
  explicit Config(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headwater
