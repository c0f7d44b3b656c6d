#include "headwater/model/tokenizer/files/kinds.h"

#include <algorithm>
#include <span>

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
    {"GPTNeoX", Files::merges, "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "<|padding|>",
     "", ""},
    {"Roberta", Files::merges, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"Bart", Files::merges, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"XLMRoberta", Files::sentencepiece, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"Camembert", Files::sentencepiece, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"MBart", Files::sentencepiece, "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"MBart50", Files::sentencepiece, "", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"},
    {"Albert", Files::sentencepiece, "[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]",
     "[MASK]"},
    {"DebertaV2", Files::sentencepiece, "[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]",
     "[MASK]"},
    {"T5", Files::sentencepiece, "", "</s>", "<unk>", "", "<pad>", "", ""},
    {"Siglip", Files::sentencepiece, "", "</s>", "<unk>", "", "</s>", "", ""},
    {"Llama", Files::sentencepiece, "<s>", "</s>", "<unk>", "", "", "", ""},
    {"CodeLlama", Files::sentencepiece, "<s>", "</s>", "<unk>", "", "", "", ""},
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
      {"mbart", "MBart"},
      {"gpt_neox", "GPTNeoX"},
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

// transformers 5 has other classes under these names.
std::string_view present_name(std::string_view name) {
  return name == "MobileBert" || name == "SqueezeBert" ? "Bert" : name;
}

bool one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Classes without rules of their own: the file says everything.
bool reads_only(std::string_view name) {
  return name == "PreTrained" || name == "TokenizersBackend";
}

}  // namespace

std::string kind_of(const TokenizerSettings& settings, const std::string& family) {
  if (family == "qwen2" || settings.kind.empty()) return std::string(kind_of_family(family));
  return std::string(present_name(settings.kind));
}

bool is_as_saved(const TokenizerSettings& settings, const std::string& family, bool bytes) {
  static constexpr std::string_view always[] = {"mistral", "modernbert", "olmo2", "phi3"};
  static constexpr std::string_view unless_named[] = {"llama", "smollm3", "clip_text_model",
                                                      "siglip_text_model"};
  if (one_of(family, always) || (settings.kind == "Llama" && bytes)) return true;
  if (family == "qwen2") return false;
  return settings.kind.empty() ? one_of(family, unless_named) : reads_only(settings.kind);
}

bool is_made_otherwise(std::string_view name) {
  static constexpr std::string_view names[] = {"Barthez",
                                               "Bartpho",
                                               "BertGeneration",
                                               "BertJapanese",
                                               "Bertweet",
                                               "BigBird",
                                               "BioGpt",
                                               "Blenderbot",
                                               "BlenderbotSmall",
                                               "ByT5",
                                               "Canine",
                                               "CodeGen",
                                               "Cohere",
                                               "Cpm",
                                               "CpmAnt",
                                               "DPRContextEncoder",
                                               "DPRQuestionEncoder",
                                               "DPRReader",
                                               "Deberta",
                                               "Esm",
                                               "Esmc",
                                               "FSMT",
                                               "Flaubert",
                                               "Funnel",
                                               "GPTNeoXJapanese",
                                               "GPTSw3",
                                               "Herbert",
                                               "LayoutLMv2",
                                               "LayoutLMv3",
                                               "LayoutXLM",
                                               "Luke",
                                               "M2M100",
                                               "MLuke",
                                               "Marian",
                                               "MarkupLM",
                                               "MyT5",
                                               "Nllb",
                                               "Nougat",
                                               "OpenAIGPT",
                                               "PLBart",
                                               "Pegasus",
                                               "Perceiver",
                                               "Phobert",
                                               "ProphetNet",
                                               "Qwen3_5",
                                               "Reformer",
                                               "RemBert",
                                               "RoCBert",
                                               "RoFormer",
                                               "SeamlessM4T",
                                               "Siglip2",
                                               "Splinter",
                                               "Tapas",
                                               "Udop",
                                               "Whisper",
                                               "XGLM",
                                               "XLM",
                                               "XLNet"};
  return one_of(name, names);
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
