// Bytes as a tokenizer.json, then a short text to tokens and back.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "headwater/core/error.h"
#include "headwater/model/tokenizer/tokenizer.h"
#include "tests/fuzz/structure/json.h"

namespace {
constexpr std::string_view words =
    "behavior"
    " "
    "normalized"
    " BPE BPEDecoder BertNormalizer BertPreTokenizer BertProcessing ByteFallback ByteLevel CTC "
    "CharDelimiterSplit Contiguous Digits FixedLength Fuse Isolated Lowercase MergedWithNext "
    "MergedWithPrevious Metaspace NFC NFD NFKC NFKD Nmt Precompiled Prepend Punctuation Regex "
    "Removed Replace RobertaProcessing Sequence SpecialToken Split String Strip StripAccents "
    "TemplateProcessing Unigram Whitespace WhitespaceSplit WordLevel WordPiece A B "
    "add_prefix_space added_tokens always byte_fallback clean_text cleanup cls "
    "content continuing_subword_prefix decoder decoders delimiter dropout end_of_word_suffix "
    "first fuse_unk handle_chinese_chars id ids ignore_merges individual_digits invert length "
    "lowercase lstrip max_input_chars_per_word merges model never normalizer "
    "normalizers pad_token padding pair pattern post_processor pre_tokenizer "
    "precompiled_charsmap prefix prepend prepend_scheme pretokenizers processors replacement "
    "rstrip sep single single_word special special_tokens split start stop str_rep "
    "strip_accents strip_left strip_right suffix tokens trim_offsets truncation type type_id "
    "unk_id unk_token use_regex version vocab word_delimiter_token a aa ab (a+)+b \\\\s+ "
    "\\\\p{L}+ [^a] <s> </s> [UNK] [CLS] ## </w>";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // ASCII, accents, a conjunct, a pictograph, controls, spaces of several kinds and special tokens.
  static constexpr std::string_view text =
      " The caf\xC3\xA9's e\xCC\x81 12,345 <s> aab  \t\n\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7 "
      "\xE2\x96\x81\xF0\x9F\x91\x8D\xE2\x80\x8D [CLS]ab\xE3\x80\x80\x01z";
  try {
    const auto tokenizer =
        headwater::Tokenizer::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const bool special : {true, false}) {
      const auto encoding = tokenizer.encode(text, "ab <s> a", special, size % 40 + 8);
      for (size_t i = 0; i < encoding.size(); ++i) {
        if (encoding.offsets[i].begin > encoding.offsets[i].end) std::abort();
      }
      tokenizer.decode(encoding.ids, special);
    }
    tokenizer.size();
  } catch (const headwater::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, headwater::fuzz::json_change(words));
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t most,
                                            unsigned seed) {
  return headwater::fuzz::cross_json(data, size, other, other_size, out, most, seed);
}
