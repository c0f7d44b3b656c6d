// Text to tokens and back by a tokenizer.json, with the ids and offsets of the `tokenizers`
// package.
#pragma once
#include <simdjson.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/encoding.h"

namespace headwater {

struct BesideTokenizer;

/// Everything except open() and parse() is thread-safe.
class Tokenizer {
 public:
  /// Reads a tokenizer.json. Throws Error if it cannot be read, if something in it is invalid, or
  /// if it has a component or an option that headwater does not know. Ignores "truncation" and
  /// "padding".
  static Tokenizer open(const std::string& path);
  /// The tokenizer of a model folder: tokenizer.json with what lies beside it, or the files from
  /// before there was one (see compose_tokenizer). None if it has neither. `family` is the
  /// model_type of config.json.
  static std::optional<Tokenizer> open_folder(const std::string& folder, const std::string& family);
  /// The same from memory; `name` names the file in errors.
  static Tokenizer parse(std::string_view json, const std::string& name);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Tokenizes the text, and its pair if there is one, with the special tokens of the
  /// post-processor unless `special` is false. Returns at most `limit` tokens in all: cuts off the
  /// ends, the longer text's first. Throws Error if a text is not UTF-8 (naming the byte), if
  /// the model has no token for a part of it, or if the special tokens alone exceed `limit`.
  Encoding encode(std::string_view text, std::optional<std::string_view> pair = {},
                  bool special = true, std::optional<size_t> limit = {}) const;

  /// The text of the tokens. Skips unknown ids, and special tokens unless `skip_special` is false.
  std::string decode(std::span<const int> ids, bool skip_special = true) const;

  /// How many special tokens encode() adds.
  size_t special_count(bool pair) const;

  std::optional<int> id_of(std::string_view token) const;
  bool knows(int id) const;
  /// Throws Error if no token has this id.
  std::string token_of(int id) const;
  bool is_special(int id) const;
  /// Whether no file of the folder has this token: its class adds it, and no model has learned it.
  bool is_assumed(int id) const;
  /// The number of tokens, including added ones.
  int size() const;
  /// Which parts of tokenizer.json other files of its folder replace, as sentences for results.
  const std::vector<std::string>& notes() const;

 private:
  struct Parts;
  /// With the settings in the other files of its folder, which take precedence.
  using ReadBeside = std::function<BesideTokenizer(const simdjson::dom::element& file)>;
  static Tokenizer parse(std::string_view json, const std::string& name,
                         const ReadBeside& read_beside);
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  Encoding encode_one(std::string_view text, int sequence) const;

  std::unique_ptr<const Parts> parts_;
};

}  // namespace headwater
