// Small tokenizer.json files for tests, checkable by hand.
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "headwater/core/error.h"
#include "headwater/model/tokenizer/tokenizer.h"

namespace headwater {

/// The parts of a tokenizer.json, as JSON. Tests change the one that they are about.
struct TokenizerJson {
  std::string model =
      R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "ab": 3}})";
  std::string normalizer = "null", pre_tokenizer = "null", post_processor = "null",
              decoder = "null", added_tokens = "[]";

  std::string json() const {
    return fmt::format(
        R"({{"version": "1.0", "truncation": null, "padding": null, "added_tokens": {}, )"
        R"("normalizer": {}, "pre_tokenizer": {}, "post_processor": {}, "decoder": {}, "model": {}}})",
        added_tokens, normalizer, pre_tokenizer, post_processor, decoder, model);
  }
  Tokenizer parse() const { return Tokenizer::parse(json(), "tokenizer.json"); }
};

inline std::string added(int id, const std::string& content, const std::string& options = "") {
  const auto flag = [&](const char* name) {
    return options.find(name) == std::string::npos ? "false" : "true";
  };
  return fmt::format(
      R"({{"id": {}, "content": "{}", "single_word": {}, "lstrip": {}, "rstrip": {}, )"
      R"("normalized": {}, "special": {}}})",
      id, content, flag("single_word"), flag("lstrip"), flag("rstrip"), flag("normalized"),
      flag("special"));
}

/// Offsets as pairs, which tests print.
inline std::vector<std::pair<size_t, size_t>> spans(const Encoding& encoding) {
  std::vector<std::pair<size_t, size_t>> out;
  for (const auto& offset : encoding.offsets) out.emplace_back(offset.begin, offset.end);
  return out;
}

using Ids = std::vector<int>;
using Words = std::vector<std::string>;
using Spans = std::vector<std::pair<size_t, size_t>>;

}  // namespace headwater
