#include "headwater/model/tokenizer/files/rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "headwater/model/tokenizer/files/components.h"
#include "headwater/model/tokenizer/files/words.h"

namespace headwater {
namespace {

using Files = TokenizerKind::Files;

class PostProcessing {
 public:
  PostProcessing(const TokenizerRules& rules, const std::function<int(const std::string&)>& id)
      : rules_(rules), id_(id) {}

  std::string json() const {
    const auto roberta = [&](const char* first, const char* last, bool trim, bool space) {
      return roberta_processing({rules_.named(first), id_(first)}, {rules_.named(last), id_(last)},
                                trim, space);
    };
    if (rules_.kind.name == "Roberta" || rules_.kind.name == "Bart" || rules_.kind.name == "MPNet")
      return roberta("cls_token", "sep_token",
                     rules_.flag("trim_offsets", rules_.kind.name != "MPNet"),
                     rules_.kind.name != "MPNet" && rules_.flag("add_prefix_space", false));
    if (!rules_.languages().empty()) return translated();
    if (rules_.kind.name == "CLIP") return roberta("bos_token", "eos_token", false, false);
    if (rules_.kind.name == "XLMRoberta" || rules_.kind.name == "Camembert")
      return sequence("bos_token", "eos_token", true);
    const bool own_ends = rules_.settings.flags.contains("add_bos_token") ||
                          rules_.settings.flags.contains("add_eos_token");
    if (rules_.kind.name == "Albert" && own_ends) return ends();
    if (rules_.kind.files == Files::words || rules_.kind.name == "Albert" ||
        rules_.kind.name == "DebertaV2")
      return sequence("cls_token", "sep_token", false);
    if (rules_.kind.name == "T5" || rules_.kind.name == "Siglip") {
      const std::string end = special("eos_token", 0);
      return templated(fmt::format("{},{}", part('A', 0), end),
                       fmt::format("{},{},{},{}", part('A', 0), end, part('B', 0), end),
                       {"eos_token"});
    }
    return ends();
  }

 private:
  // The language of the text goes after the end (mBART) or before the text (mBART-50).
  std::string translated() const {
    const std::string language =
        rules_.settings.language.empty() ? "en_XX" : rules_.settings.language;
    const std::string code =
        fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":0}}}})", json_text(language));
    const std::string end = special("eos_token", 0);
    const bool before = rules_.kind.name == "MBart50";
    const auto whole = [&](const std::string& text) {
      return before ? fmt::format("{},{},{}", code, text, end)
                    : fmt::format("{},{},{}", text, end, code);
    };
    return fmt::format(R"({{"type":"TemplateProcessing","single":[{}],"pair":[{}],)"
                       R"("special_tokens":{{{}:{{"id":{},"ids":[{}],"tokens":[{}]}},)"
                       R"({}:{{"id":{},"ids":[{}],"tokens":[{}]}}}}}})",
                       whole(part('A', 0)), whole(part('A', 0) + "," + part('B', 0)),
                       json_text(language), json_text(language), id_(language), json_text(language),
                       json_text(rules_.named("eos_token")), json_text(rules_.named("eos_token")),
                       id_("eos_token"), json_text(rules_.named("eos_token")));
  }

  // FIRST text LAST, and for a pair FIRST text LAST [LAST] pair LAST.
  std::string sequence(const char* first, const char* last, bool doubled) const {
    const std::string one = special(first, 0), two = special(last, 0);
    const int type = doubled ? 0 : 1;
    return templated(fmt::format("{},{},{}", one, part('A', 0), two),
                     fmt::format("{},{},{}{}{},{},{}", one, part('A', 0), two, doubled ? "," : "",
                                 doubled ? two : "", part('B', type), special(last, type)),
                     {first, last});
  }

  // With the tokens at both ends that add_bos_token and add_eos_token ask for.
  std::string ends() const {
    const bool first = rules_.kind.name == "Gemma" || rules_.kind.name == "CodeLlama";
    const bool bos = rules_.flag("add_bos_token", first) && !rules_.named("bos_token").empty();
    const bool eos = rules_.flag("add_eos_token", false) && !rules_.named("eos_token").empty();
    const auto whole = [&](char text, int type) {
      return (bos ? special("bos_token", type) + "," : "") + part(text, type) +
             (eos ? "," + special("eos_token", type) : "");
    };
    std::vector<const char*> used;
    if (bos) used.push_back("bos_token");
    if (eos && (!bos || rules_.named("bos_token") != rules_.named("eos_token")))
      used.push_back("eos_token");
    return templated(whole('A', 0), whole('A', 0) + "," + whole('B', 1), used);
  }

  std::string special(const char* name, int type) const {
    return fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}})",
                       json_text(rules_.named(name)), type);
  }
  static std::string part(char text, int type) {
    return fmt::format(R"({{"Sequence":{{"id":"{}","type_id":{}}}}})", text, type);
  }
  std::string templated(const std::string& single, const std::string& pair,
                        const std::vector<const char*>& used) const {
    std::string tokens;
    for (const char* name : used)
      tokens += fmt::format(R"({0}{1}:{{"id":{1},"ids":[{2}],"tokens":[{1}]}})",
                            tokens.empty() ? "" : ",", json_text(rules_.named(name)), id_(name));
    return fmt::format(
        R"({{"type":"TemplateProcessing","single":[{}],"pair":[{}],"special_tokens":{{{}}}}})",
        single, pair, tokens);
  }

  const TokenizerRules& rules_;
  const std::function<int(const std::string&)>& id_;
};

}  // namespace

TokenizerRules::TokenizerRules(const TokenizerKind& of, TokenizerSettings with)
    : kind(of), settings(std::move(with)) {
  const std::pair<const char*, std::string_view> defaults[] = {
      {"bos_token", kind.bos},  {"eos_token", kind.eos}, {"unk_token", kind.unk},
      {"sep_token", kind.sep},  {"pad_token", kind.pad}, {"cls_token", kind.cls},
      {"mask_token", kind.mask}};
  for (const auto& [name, content] : defaults)
    if (!settings.named.contains(name)) {
      settings.named[name].content = content;
      settings.named[name].bare = settings.named[name].assumed = true;
      // Spaces around tokens of SigLIP belong to them.
      if (kind.name == "Siglip") settings.named[name].lstrip = settings.named[name].rstrip = true;
    }
  // Spaces before these masks belong to them.
  AddedToken& mask = settings.named["mask_token"];
  const bool has_space = kind.name == "MPNet" || kind.name == "Camembert" || !languages().empty();
  if (!mask.bare || !has_space) return;
  mask.lstrip = true;
  mask.normalised = kind.name == "MPNet";
}

void TokenizerRules::add_own_extra() {
  const auto add = [&](std::string content) {
    const bool known = std::ranges::any_of(
        settings.extra, [&](const AddedToken& one) { return one.content == content; });
    if (!known) settings.extra.push_back({.content = std::move(content)});
  };
  for (const std::string_view code : languages()) add(std::string(code));
  if (kind.name == "T5" && !settings.lists_extra)
    for (int k = 0; k < settings.extra_ids; ++k) add(fmt::format("<extra_id_{}>", k));
}

bool TokenizerRules::flag(const char* name, bool otherwise) const {
  // To these classes a null says no.
  const bool strict = kind.files == Files::sentencepiece && !merged() && kind.name != "Siglip";
  return settings.flag_or(name, otherwise && !(strict && settings.nulls.contains(name)));
}

std::string TokenizerRules::bert_normalizer() const {
  const auto accents = settings.flags.find("strip_accents");
  return fmt::format(R"({{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":{},)"
                     R"("strip_accents":{},"lowercase":{}}})",
                     flag("tokenize_chinese_chars", true),
                     accents == settings.flags.end() ? "null" : fmt::to_string(accents->second),
                     flag("do_lower_case", true));
}

std::string TokenizerRules::piece_normalizer(const std::string& precompiled) const {
  std::vector<std::string> steps;
  if (kind.name == "Llama" || kind.name == "CodeLlama" || kind.name == "MBart") return "null";
  if (kind.name == "Gemma")
    return R"({"type":"Replace","pattern":{"String":" "},"content":"\u2581"})";
  if (kind.name == "DebertaV2") {
    return fmt::format(R"({{"type":"Sequence","normalizers":[{}{},{{"type":"NFC"}},)"
                       R"({{"type":"Strip","strip_left":false,"strip_right":true}}]}})",
                       flag("do_lower_case", false) ? R"({"type":"Lowercase"},)" : "",
                       replacing(R"(\s{2,}|[\n\r\t])", " "));
  }
  if (kind.name == "Albert") {
    for (const char* quotes : {"``", "''"})
      steps.push_back(fmt::format(
          R"({{"type":"Replace","pattern":{{"String":"{}"}},"content":"\""}})", quotes));
    if (!flag("keep_accents", false)) {
      steps.emplace_back(R"({"type":"NFKD"})");
      steps.emplace_back(R"({"type":"StripAccents"})");
    }
    if (flag("do_lower_case", true)) steps.emplace_back(R"({"type":"Lowercase"})");
  }
  if (kind.name == "Siglip") return siglip_normalizer(flag("do_lower_case", true), precompiled);
  if (!precompiled.empty()) steps.push_back(precompiled);
  if (kind.name == "MBart50") steps.push_back(replacing(" {2,}", " "));
  if (steps.empty()) return "null";
  return fmt::format(R"({{"type":"Sequence","normalizers":[{}]}})", fmt::join(steps, ","));
}

std::string TokenizerRules::byte_level() const {
  std::string bytes = fmt::format(
      R"({{"type":"ByteLevel","add_prefix_space":{},"trim_offsets":true,"use_regex":{}}})",
      kind.name != "CLIP" && flag("add_prefix_space", false), kind.name != "Qwen2");
  if (kind.name == "CLIP")
    return split_before(R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|)"
                        R"([\p{N}]|[^\s\p{L}\p{N}]+)",
                        "Removed", true, bytes);
  if (kind.name != "Qwen2") return bytes;
  return split_before(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+)"
      R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      "Isolated", false, bytes);
}

std::string TokenizerRules::split_pieces() const {
  if (kind.name == "Llama" || kind.name == "CodeLlama")
    return metaspace("\"split\":false,", prepend());
  if (kind.name == "Gemma")
    return R"({"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious",)"
           R"("invert":false})";
  // What splits a text before its spaces are marked.
  const char* first = R"({"type":"WhitespaceSplit"},)";
  if (kind.name == "DebertaV2")
    first = flag("split_by_punct", false) ? R"({"type":"Punctuation","behavior":"Isolated"},)" : "";
  if (kind.name == "Siglip" || kind.name == "MBart50") first = "";
  return fmt::format(R"({{"type":"Sequence","pretokenizers":[{}{}]}})", first,
                     metaspace("\"split\":true,", prepend()));
}

const char* TokenizerRules::prepend() const {
  if (kind.name == "T5" || !languages().empty()) return "always";
  if (!flag("add_prefix_space", true)) return kind.name == "DebertaV2" ? "first" : "never";
  if (kind.name == "Siglip") return "first";
  if (kind.name == "CodeLlama") return "first";
  return kind.name == "Llama" && !flag("legacy", false) ? "first" : "always";
}

std::string TokenizerRules::normalizer(const std::string& precompiled) const {
  if (kind.files == Files::words) return bert_normalizer();
  if (kind.files == Files::sentencepiece) return piece_normalizer(precompiled);
  if (kind.name == "CLIP") return clip_normalizer();
  return kind.name == "Qwen2" || kind.name == "GPTNeoX" ? R"({"type":"NFC"})" : "null";
}

std::string TokenizerRules::pre_tokenizer() const {
  if (kind.files == Files::words) return R"({"type":"BertPreTokenizer"})";
  return kind.files == Files::merges ? byte_level() : split_pieces();
}

std::string TokenizerRules::decoder() const {
  if (kind.files == Files::words) return R"({"type":"WordPiece","prefix":"##","cleanup":true})";
  if (kind.files == Files::sentencepiece) {
    if (!merged()) return metaspace("\"split\":true,", prepend());
    return merged_decoder(kind.name == "CodeLlama" ||
                          (kind.name == "Llama" && flag("add_prefix_space", true)));
  }
  const std::string bytes =
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})";
  return kind.name == "CLIP" ? clip_decoder(bytes) : bytes;
}

std::span<const std::string_view> TokenizerRules::languages() const {
  // mBART has the first 25 of mBART-50's.
  static constexpr std::string_view all[] = {
      "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN",
      "hi_IN", "it_IT", "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP",
      "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ",
      "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK", "ml_IN",
      "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN",
      "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
  if (kind.name == "MBart50") return all;
  return kind.name == "MBart" ? std::span(all).first(25) : std::span<const std::string_view>();
}

std::string TokenizerRules::post_processor(
    const std::function<int(const std::string& name)>& id) const {
  return PostProcessing(*this, id).json();
}

}  // namespace headwater
