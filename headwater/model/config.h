// config.json, read so that nothing in it is passed over by accident: an entry is used, known to
// change nothing, or an error.
#pragma once
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// A JSON object whose entries are asked for by name. null counts as not there. Every question
/// throws Error where an entry is of the wrong kind or outside its range.
class Config {
 public:
  /// Throws Error if the file is missing or no JSON object.
  static Config open(const std::string& path);
  static Config parse(std::string_view json, const std::string& name);
  Config(Config&&) noexcept;
  Config& operator=(Config&&) noexcept;
  ~Config();

  /// What messages call it: the file, and the place in it.
  const std::string& name() const;
  bool has(std::string_view key) const;

  /// The largest count that a model may claim of anything.
  static constexpr int64_t most = int64_t{1} << 24;
  int integer(std::string_view key, int64_t least = 1) const;
  int integer_or(std::string_view key, int otherwise, int64_t least = 1) const;
  double number(std::string_view key) const;
  double number_or(std::string_view key, double otherwise) const;
  bool flag_or(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key) const;
  std::string text_or(std::string_view key, std::string_view otherwise) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// A number, or a list of them.
  std::vector<int> integers(std::string_view key) const;
  /// A number, or a list of two equal numbers (sizes of images and patches).
  int square(std::string_view key) const;
  /// "id2label": the name of class 0, 1, ...; empty where there is none.
  std::vector<std::string> labels() const;
  /// The object under `key`. Its entries are questions to it, and its own finish() is to be called.
  std::optional<Config> object(std::string_view key) const;

  /// The entry is missing or has this value; everything else is not implemented.
  void expect_flag(std::string_view key, bool value) const;
  void expect_text(std::string_view key, std::string_view value) const;
  void expect_number(std::string_view key, int value) const;
  /// The entry is missing, or an empty list or object.
  void expect_empty(std::string_view key) const;
  /// Entries that do not change what is computed here, whatever they hold.
  void pass_over(std::initializer_list<std::string_view> keys) const;
  /// Throws Error naming the first entry that nobody asked for.
  void finish() const;

 private:
  struct State;
  explicit Config(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headwater
