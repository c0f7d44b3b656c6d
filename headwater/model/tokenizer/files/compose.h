// The tokenizer of a folder without tokenizer.json, from the files that came before it.
#pragma once
#include <optional>
#include <string>

namespace headwater {

/// What tokenizer.json would say: from vocab.txt, from vocab.json and merges.txt, or from a
/// SentencePiece model, with what tokenizer_config.json, special_tokens_map.json and
/// added_tokens.json add. The class in tokenizer_config.json decides how they are used; without it,
/// `family` (a model_type) does. None if the folder has no such files. Throws Error, which names
/// the file, for a damaged one and for a class that headwater does not know.
std::optional<std::string> compose_tokenizer(const std::string& folder, const std::string& family);

}  // namespace headwater
