#include "headwater/model/tokenizer/files/beside.h"

#include "headwater/model/tokenizer/files/kinds.h"

namespace headwater {

BesideTokenizer read_beside(const std::string& folder, const std::string& family) {
  const TokenizerSettings settings = read_tokenizer_settings(folder);
  BesideTokenizer out;
  out.tokens = settings.tokens();
  out.split_special = settings.flag_or("split_special_tokens", false);
  const TokenizerKind* const kind = find_kind(kind_of(settings, family));
  // Classes that headwater does not know take the rest from tokenizer.json.
  if (!kind) return out;
  const auto flag = [&](const char* name) -> std::optional<bool> {
    const auto found = settings.flags.find(name);
    return found == settings.flags.end() ? std::nullopt : std::optional(found->second);
  };
  if (kind->files == TokenizerKind::Files::words)
    out.flags = {flag("do_lower_case"), flag("strip_accents"), flag("tokenize_chinese_chars")};
  if (kind->name == "GPT2" || kind->name == "Roberta" || kind->name == "Bart")
    out.add_prefix_space = flag("add_prefix_space");
  return out;
}

}  // namespace headwater
