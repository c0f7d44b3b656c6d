#include "headwater/model/tokenizer/files/kinds.h"

#include <algorithm>

namespace headwater {
namespace {

using Files = TokenizerKind::Files;
constexpr TokenizerKind kinds[] = {
    {"Bert", Files::words, "", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"},
    {"DistilBert", Files::words, "", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"},
    {"Electra", Files::words, "", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"},
    {"MPNet", Files::words, "<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>"},
    {"GPT2", Files::merges, "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "", "", ""},
    {"Qwen2", Files::merges, "", "<|endoftext|>", "<|endoftext|>", "", "<|endoftext|>", "", ""},
    {"Roberta", Files::merges, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"Bart", Files::merges, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"XLMRoberta", Files::sentencepiece, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"Camembert", Files::sentencepiece, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"Albert", Files::sentencepiece, "[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]",
     "[MASK]"},
    {"DebertaV2", Files::sentencepiece, "[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]",
     "[MASK]"},
    {"T5", Files::sentencepiece, "", "</s>", "<unk>", "", "<pad>", "", ""},
    {"Siglip", Files::sentencepiece, "", "</s>", "<unk>", "", "</s>", "", ""},
    {"Llama", Files::sentencepiece, "<s>", "</s>", "<unk>", "", "", "", ""},
    {"Gemma", Files::sentencepiece, "<bos>", "<eos>", "<unk>", "", "<pad>", "", "<mask>"},
    {"CLIP", Files::merges, "<|startoftext|>", "<|endoftext|>", "<|endoftext|>", "",
     "<|endoftext|>", "", ""},
};

std::string_view kind_of_family(const std::string& family) {
  struct Pair {
    std::string_view family, kind;
  };
  static constexpr Pair pairs[] = {
      {"bert", "Bert"},
      {"distilbert", "DistilBert"},
      {"electra", "Electra"},
      {"mpnet", "MPNet"},
      {"gpt2", "GPT2"},
      {"opt", "GPT2"},
      {"qwen2", "Qwen2"},
      {"qwen3", "Qwen2"},
      {"roberta", "Roberta"},
      {"albert", "Albert"},
      {"xlm-roberta", "XLMRoberta"},
      {"camembert", "Camembert"},
      {"deberta-v2", "DebertaV2"},
      {"t5", "T5"},
      {"mt5", "T5"},
      {"bart", "Bart"},
      {"llama", "Llama"},
      {"mistral", "Llama"},
      {"phi3", "Llama"},
      {"gemma2", "Gemma"},
      {"gemma3_text", "Gemma"},
      {"clip", "CLIP"},
      {"clip_text_model", "CLIP"},
      {"siglip", "Siglip"},
      {"siglip_text_model", "Siglip"},
  };
  const auto found = std::ranges::find(pairs, family, &Pair::family);
  return found == std::end(pairs) ? "" : found->kind;
}

}  // namespace

std::string kind_of(const TokenizerSettings& settings, const std::string& family) {
  return settings.kind.empty() ? std::string(kind_of_family(family)) : settings.kind;
}

const TokenizerKind* find_kind(std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &TokenizerKind::name);
  return found == std::end(kinds) ? nullptr : found;
}

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const TokenizerKind& one : kinds) names.push_back(one.name);
  return names;
}

}  // namespace headwater
