#include "headwater/model/tokenizer/files/beside.h"

#include <algorithm>
#include <initializer_list>

namespace headwater {
namespace {

namespace dom = simdjson::dom;
using Files = TokenizerKind::Files;

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// transformers takes tokenizer.json as it is for these families, whatever class the files name, and
// for the text half of CLIP if they name none.
bool is_as_saved(const TokenizerSettings& settings, const std::string& family) {
  if (settings.kind.empty() && family == "clip_text_model") return true;
  return one_of(family, {"mistral", "modernbert", "olmo2", "phi3"});
}

// Whether the file's model is one that the class can take over.
bool has_model_of(const TokenizerKind& kind, const dom::element& file) {
  std::string_view type;
  if (file["model"]["type"].get(type)) return true;  // older files do not say it
  return type == (kind.files == Files::words    ? "WordPiece"
                  : kind.files == Files::merges ? "BPE"
                                                : "Unigram");
}

// The normalizer that maps characters, as JSON; "" if there is none.
std::string precompiled_in(const dom::element& file) {
  const auto is_precompiled = [](const dom::element& one) {
    std::string_view type;
    return !one["type"].get(type) && type == "Precompiled";
  };
  dom::element normalizer;
  if (file["normalizer"].get(normalizer)) return {};
  if (is_precompiled(normalizer)) return simdjson::minify(normalizer);
  dom::array all;
  if (!normalizer["normalizers"].get(all))
    for (const dom::element one : all)
      if (is_precompiled(one)) return simdjson::minify(one);
  return {};
}

}  // namespace

std::string BesideTokenizer::normalizer(const dom::element& file) const {
  if (!rules || !one_of(rules->kind.name, {"Albert", "DebertaV2"})) return {};
  return has_model_of(rules->kind, file) ? rules->piece_normalizer(precompiled_in(file)) : "";
}

std::string BesideTokenizer::pre_tokenizer(const dom::element& file) const {
  if (!rules || !one_of(rules->kind.name, {"Albert", "Camembert", "DebertaV2", "XLMRoberta"}))
    return {};
  return has_model_of(rules->kind, file) ? rules->split_pieces() : "";
}

std::string BesideTokenizer::post_processor(
    const dom::element& file,
    const std::function<std::optional<int>(const std::string& token)>& id) const {
  if (!rules || !has_model_of(rules->kind, file)) return {};
  if (rules->kind.files != Files::words &&
      !one_of(rules->kind.name,
              {"Roberta", "Bart", "Camembert", "XLMRoberta", "DebertaV2", "CLIP", "T5"}))
    return {};
  bool known = true;
  std::string made = rules->post_processor([&](const std::string& name) {
    const auto found = id(rules->named(name));
    known = known && found;
    return found.value_or(0);
  });
  return known ? made : "";
}

BesideTokenizer read_beside(const std::string& folder, const std::string& family) {
  TokenizerSettings settings = read_tokenizer_settings(folder);
  BesideTokenizer out;
  out.tokens = settings.tokens();
  out.split_special = settings.flag_or("split_special_tokens", false);
  const TokenizerKind* const kind = find_kind(kind_of(settings, family));
  // Classes that headwater does not know take the rest from tokenizer.json.
  if (!kind || is_as_saved(settings, family)) return out;
  if (kind->files == Files::words) {
    const bool lowercase = settings.flag_or("do_lower_case", true);
    out.flags = {lowercase, settings.flag_or("strip_accents", lowercase),
                 settings.flag_or("tokenize_chinese_chars", true)};
  }
  if (one_of(kind->name, {"GPT2", "Roberta", "Bart"}))
    out.add_prefix_space = settings.flag_or("add_prefix_space", false);
  out.rules = std::make_shared<TokenizerRules>(*kind, std::move(settings));
  return out;
}

}  // namespace headwater
