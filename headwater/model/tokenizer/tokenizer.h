// Text to tokens and back, as a tokenizer.json says: ids and offsets of the `tokenizers` package.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headwater/model/tokenizer/encoding.h"

namespace headwater {

/// Everything but open() and parse() is safe from several threads at once.
class Tokenizer {
 public:
  /// A tokenizer.json. Throws Error if it cannot be read, if something in it is not as it must be,
  /// or if it has a component or an option that headwater does not know. "truncation" and "padding"
  /// are not heeded.
  static Tokenizer open(const std::string& path);
  /// The same from memory; `name` stands for the file in errors.
  static Tokenizer parse(std::string_view json, const std::string& name);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The text, with its pair if there is one, as tokens; with the special tokens of the
  /// post-processor unless `special` is false. With a `limit`, at most so many tokens in all: the
  /// ends are cut off, the longer text's first. Throws Error naming the byte if a text is no UTF-8;
  /// if the model has no token for a part of it; if the special tokens alone are more than `limit`.
  Encoding encode(std::string_view text, std::optional<std::string_view> pair = {},
                  bool special = true, std::optional<size_t> limit = {}) const;

  /// The text that the tokens stand for; ids that nobody has are passed over, and special tokens
  /// too unless `skip_special` is false.
  std::string decode(std::span<const int> ids, bool skip_special = true) const;

  /// How many special tokens encode() puts in.
  size_t special_count(bool pair) const;

  std::optional<int> id_of(std::string_view token) const;
  bool knows(int id) const;
  /// Throws Error if no token has this id.
  std::string token_of(int id) const;
  bool is_special(int id) const;
  /// How many tokens there are, added ones included.
  int size() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  Encoding encode_one(std::string_view text, int sequence) const;

  std::unique_ptr<const Parts> parts_;
};

}  // namespace headwater
