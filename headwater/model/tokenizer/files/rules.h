// What a class of transformers makes of its settings, whichever files its words are from.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headwater/model/tokenizer/files/kinds.h"
#include "headwater/model/tokenizer/files/settings.h"

namespace headwater {

/// Each text is a component of tokenizer.json.
struct TokenizerRules {
  /// Named tokens that the settings do not have become those of the class.
  TokenizerRules(const TokenizerKind& kind, TokenizerSettings settings);

  std::string named(const std::string& name) const { return settings.named.at(name).content; }
  bool flag(const char* name, bool otherwise) const;
  /// Whether its SentencePiece model merges pieces, and falls back to bytes.
  bool merged() const {
    return kind.name == "Llama" || kind.name == "CodeLlama" || kind.name == "Gemma";
  }
  /// The codes of languages that its vocabulary ends with.
  std::span<const std::string_view> languages() const;

  /// Adds the extra special tokens that the class itself has.
  void add_own_extra();

  /// `precompiled` is the normalizer with the map of characters of a SentencePiece model; "": none.
  std::string normalizer(const std::string& precompiled) const;
  std::string pre_tokenizer() const;
  std::string decoder() const;
  /// `id` gives the number of a token.
  std::string post_processor(const std::function<int(const std::string& token)>& id) const;

  const TokenizerKind& kind;
  TokenizerSettings settings;

 private:
  std::string bert_normalizer() const;
  std::string piece_normalizer(const std::string& precompiled) const;
  std::string byte_level() const;
  std::string split_pieces() const;
  // Whether a mark for a space goes before every part of a text, before the first, or nowhere.
  const char* prepend() const;
};

}  // namespace headwater
