#include "headwater/model/tokenizer/files/beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;
using Files = TokenizerKind::Files;

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// What the class's model has and the file's has not; "" if it can take its words over.
std::string other_model(const TokenizerRules& rules, const dom::element& file) {
  const bool words = rules.kind.files == Files::words;
  const bool pairs = rules.kind.files == Files::merges || rules.merged();
  const std::string_view wanted = words ? "WordPiece" : pairs ? "BPE" : "Unigram";
  const dom::element model = file["model"];
  std::string_view type, suffix;
  // Older files do not say it.
  if (!model["type"].get(type) && type != wanted)
    return fmt::format("a {} model, not a {} one", wanted, type);
  const auto differs = [&](const char* option, bool own) {
    bool given = false;
    return !model[option].get(given) && given != own;
  };
  if (!words && differs("byte_fallback", rules.merged())) return "another \"byte_fallback\"";
  if (!pairs) return {};
  if (differs("fuse_unk", rules.merged())) return "another \"fuse_unk\"";
  if (differs("ignore_merges", false)) return "no \"ignore_merges\"";
  if (model["end_of_word_suffix"].get(suffix)) suffix = {};
  if (suffix != (rules.kind.name == "CLIP" ? "</w>" : "")) return "another \"end_of_word_suffix\"";
  return {};
}

// The component under `key`, or one in its sequence, that has this type.
std::optional<dom::element> find_part(const dom::element& file, const char* key,
                                      std::string_view type) {
  const auto is_it = [&](const dom::element& one) {
    std::string_view own;
    return !one["type"].get(own) && own == type;
  };
  dom::element component;
  if (file[key].get(component)) return {};
  if (is_it(component)) return component;
  dom::array all;
  for (const char* parts : {"normalizers", "pretokenizers", "decoders"})
    if (!component[parts].get(all))
      for (const dom::element one : all)
        if (is_it(one)) return one;
  return {};
}

}  // namespace

std::string BesideTokenizer::part(const char* key, const dom::element& file) const {
  if (!rules) return {};
  const std::string_view name = key;
  if (name == "pre_tokenizer") return rules->pre_tokenizer();
  if (name == "decoder") return rules->decoder();
  const auto map = find_part(file, "normalizer", "Precompiled");
  return rules->normalizer(map ? simdjson::minify(*map) : "");
}

std::string BesideTokenizer::post_processor(
    const std::function<std::optional<int>(const std::string& token)>& id) const {
  if (!rules) return {};
  if (rules->kind.files != Files::words && rules->languages().empty() &&
      !one_of(rules->kind.name, {"Roberta", "Bart", "Camembert", "XLMRoberta", "DebertaV2", "CLIP",
                                 "T5", "GPTNeoX", "CodeLlama"}))
    return {};
  bool known = true;
  std::string made = rules->post_processor([&](const std::string& name) {
    const bool is_code = !name.ends_with("_token");
    const auto found = id(is_code ? name : rules->named(name));
    if (!found && is_code)
      fail(
          "tokenizer_config.json: src_lang '{}' is not in the vocabulary, expected it there; name "
          "another language",
          name);
    known = known && found;
    return found.value_or(0);
  });
  return known ? made : "";
}

std::optional<std::string> BesideTokenizer::unknown(const dom::element& file) const {
  if (!rules) return {};
  const std::string_view kind = rules->kind.name;
  if (rules->kind.files == Files::words ||
      one_of(kind, {"Camembert", "CLIP", "CodeLlama", "Gemma"}))
    return rules->named("unk_token");
  size_t id = kind == "T5" ? 2 : 3;
  if (one_of(kind, {"Albert", "DebertaV2"}))
    id = 1;
  else if (kind != "T5" && kind != "XLMRoberta" && rules->languages().empty())
    return {};
  dom::array words;
  std::string_view word;
  double score = 1;
  if (file["model"]["vocab"].get(words)) return {};
  if (kind == "DebertaV2")
    for (const dom::element one : words)
      if (!one.at(0).get(word) && !one.at(1).get(score) && score == 0 &&
          word == rules->named("unk_token"))
        return std::string(word);
  return words.at(id).at(0).get(word) ? std::nullopt : std::optional(std::string(word));
}

BesideTokenizer read_beside(const std::string& folder, const std::string& family,
                            const dom::element& file) {
  TokenizerSettings settings = read_tokenizer_settings(folder);
  BesideTokenizer out;
  out.tokens = settings.tokens();
  out.split_special = settings.flag_or("split_special_tokens", false);
  const bool bytes =
      find_part(file, "pre_tokenizer", "ByteLevel") || find_part(file, "decoder", "ByteLevel");
  if (is_as_saved(settings, family, bytes)) return out;
  const std::string name = kind_of(settings, family);
  const TokenizerKind* const kind = find_kind(name);
  if (!kind && is_made_otherwise(name))
    fail(
        "{}: names {}Tokenizer, which makes parts of tokenizer.json anew in a way that headwater "
        "does not know; set \"tokenizer_class\" to TokenizersBackend in tokenizer_config.json to "
        "take the file as it is, or give `ids`",
        folder, name);
  if (!kind) return out;
  const bool named = !settings.kind.empty() && family != "qwen2";
  // Where tokenizer.json is there, these two count for nothing.
  settings.flags.erase("add_bos_token");
  settings.flags.erase("add_eos_token");
  auto rules = std::make_shared<TokenizerRules>(*kind, std::move(settings));
  const std::string other = other_model(*rules, file);
  if (named && !other.empty())
    fail(
        "{}: names {}Tokenizer, which has {} in its tokenizer.json; set \"tokenizer_class\" to "
        "TokenizersBackend in tokenizer_config.json to take the file as it is",
        folder, name, other);
  if (!other.empty()) {
    out.notes.push_back(fmt::format(
        "tokenizer.json counts as it is; transformers 5 takes {}Tokenizer, which has {}, "
        "unless tokenizer_config.json names another class",
        name, other));
    return out;
  }
  rules->add_own_extra();
  out.tokens = rules->settings.tokens();
  out.lists_added = rules->settings.lists_added;
  out.rules = std::move(rules);
  return out;
}

}  // namespace headwater
