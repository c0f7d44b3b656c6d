// Components of a tokenizer.json, as JSON.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace headwater {

/// Metaspace, with a mark for each space. `split` is empty, or an entry with a comma after it.
std::string metaspace(const char* split, const char* prepend);

/// Splits by a regular expression, and passes the parts on to the pre-tokenizer `then`.
std::string split_before(const char* pattern, const char* behaviour, bool invert,
                         const std::string& then);

/// A normalizer that puts a text in place of what a regular expression finds.
std::string replacing(const char* pattern, const char* with);

/// The normalisation of a SentencePiece model.
std::string precompiled(std::string_view charsmap);
/// SigLIP leaves out punctuation, and spaces at both ends. No charsmap is an empty one.
std::string siglip_normalizer(bool lower, const std::string& precompiled);

/// For models that merge pieces: joins bytes, and may drop the first space.
std::string merged_decoder(bool strip);

/// CLIP marks ends of words instead of spaces.
std::string clip_normalizer();
/// `bytes` is the byte-level decoder.
std::string clip_decoder(const std::string& bytes);

/// FIRST text LAST, and for a pair FIRST text LAST LAST pair LAST; each a token and its id.
std::string roberta_processing(const std::pair<std::string, int>& first,
                               const std::pair<std::string, int>& last, bool trim_offsets,
                               bool add_prefix_space);

}  // namespace headwater
