#include "headwater/model/tokenizer/files/settings.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_map>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/parse_json.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

constexpr const char* names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                 "pad_token", "cls_token", "mask_token"};

// The number that Python's int() reads, as transformers does: " 12", "+12" and "1_000" are some.
std::optional<int64_t> number_in(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r\v\f";
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  text = text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::string digits;
  for (size_t k = 0; k < text.size(); ++k) {
    const bool between = k > 0 && k + 1 < text.size() && text[k - 1] != '_' && text[k - 1] != '-';
    if (text[k] == '_' && !between) return {};
    if (text[k] != '_') digits += text[k];
  }
  int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stop != end) return {};
  return number;
}

class JsonFile {
 public:
  JsonFile(const std::string& folder, const char* name)
      : path_((fs::path(folder) / name).string()) {
    std::error_code missing;
    if (!fs::exists(path_, missing)) return;
    const MappedFile file(path_);
    if (parse_json(parser_, as_text(file.bytes()), object_))
      fail("{}: is not a JSON object, expected one; check the file", path_);
    exists_ = true;
  }
  explicit operator bool() const { return exists_; }
  const std::string& path() const { return path_; }
  const dom::object& object() const { return object_; }

  // A token as a text, or as an object with its options.
  AddedToken token(const dom::element& value, std::string_view what) const {
    AddedToken token;
    std::string_view text;
    dom::object object;
    if (!value.get(text)) {
      token.content = text;
      token.bare = true;
      return token;
    }
    if (value.get(object) || object["content"].get(text))
      fail("{}: \"{}\" is {}, expected a token; check the file", path_, what,
           std::string(simdjson::minify(value)).substr(0, 60));
    token.content = text;
    const auto flag = [&](const char* key, bool& out) {
      bool given;
      if (!object[key].get(given)) out = given;
    };
    token.special = false;
    token.normalised = true;
    flag("special", token.special);
    flag("single_word", token.single_word);
    flag("lstrip", token.lstrip);
    flag("rstrip", token.rstrip);
    flag("normalized", token.normalised);
    return token;
  }

 private:
  std::string path_;
  dom::parser parser_;
  dom::object object_;
  bool exists_ = false;
};

// "Bert" of the class BertTokenizerFast; "" if the file names none.
std::string kind_in(const JsonFile& file) {
  std::string_view kind;
  if (!file || file.object()["tokenizer_class"].get(kind)) return {};
  for (const std::string_view end : {"Fast", "Tokenizer"})
    if (kind.ends_with(end)) kind.remove_suffix(end.size());
  return std::string(kind);
}

void read_named(const JsonFile& file, TokenizerSettings& settings) {
  for (const char* name : names) {
    dom::element value;
    if (file.object()[name].get(value)) continue;
    if (value.is_null())
      settings.named[name] = {};
    else
      settings.named[name] = file.token(value, name);
    settings.named[name].special = true;
  }
}

std::vector<AddedToken> tokens_in(const JsonFile& file, std::string_view key) {
  std::vector<AddedToken> tokens;
  dom::array list;
  if (file.object()[key].get(list)) return tokens;
  for (const dom::element value : list) {
    tokens.push_back(file.token(value, key));
    tokens.back().special = true;
  }
  return tokens;
}

// Special tokens with names of their own: entries like "image_token", and an object in place of the
// list of extra ones.
void read_others(const JsonFile& file, TokenizerSettings& settings) {
  const auto take = [&](std::string_view name, const dom::element& value) {
    settings.others.push_back(file.token(value, name));
    settings.others.back().special = true;
  };
  for (const auto& [key, value] : file.object())
    if (key.ends_with("_token") && std::ranges::find(names, key) == std::end(names) &&
        (value.is_string() || value.at_key("content").is_string()))
      take(key, value);
  dom::object by_name;
  if (!file.object()["extra_special_tokens"].get(by_name))
    for (const auto& [name, value] : by_name) take(name, value);
}

// "extra_special_tokens", of which "additional_special_tokens" is the older name. transformers
// takes the older one of tokenizer_config.json if that has no other, and the one of
// special_tokens_map.json if neither has the newer one.
class ExtraTokens {
 public:
  void read_config(const JsonFile& file) {
    dom::array list;
    dom::object by_name;
    const bool listed = !file.object()[newer].get(list) && list.size() > 0;
    const bool named = !file.object()[newer].get(by_name) && by_name.size() > 0;
    const bool old = !file.object()[older].get(list);
    older_ = tokens_in(file, older);
    newer_ = tokens_in(file, newer);
    given_ = !file.object()[newer].get(list);
    if (!listed && !named && old) {
      newer_ = older_;
      given_ = true;
    }
  }
  void read_map(const JsonFile& file) {
    dom::array list;
    if (!file.object()[newer].get(list)) given_ = true;
    for (AddedToken& token : tokens_in(file, newer)) newer_.push_back(std::move(token));
    if (!file.object()[older].get(list)) older_ = tokens_in(file, older);
  }
  void put(TokenizerSettings& settings) const {
    settings.lists_extra = given_;
    settings.extra = given_ ? newer_ : older_;
  }

 private:
  static constexpr const char* newer = "extra_special_tokens";
  static constexpr const char* older = "additional_special_tokens";
  std::vector<AddedToken> newer_, older_;
  bool given_ = false;
};

}  // namespace

bool TokenizerSettings::flag_or(const std::string& name, bool otherwise) const {
  const auto found = flags.find(name);
  return found == flags.end() ? otherwise : found->second;
}

std::vector<AddedToken> TokenizerSettings::tokens() const {
  std::vector<AddedToken> all;
  std::unordered_map<std::string, size_t> places;
  size_t kept = std::string::npos;  // those before it stay as they are
  const auto add = [&](AddedToken token) {
    if (token.content.empty()) return;
    for (const auto& [name, known] : named)
      if (known.content == token.content) token.special = true;
    const auto [found, is_new] = places.emplace(token.content, all.size());
    if (is_new) {
      all.push_back(std::move(token));
    } else if (found->second >= kept) {
      AddedToken& old = all[found->second];
      token.special = token.special || old.special;
      old = std::move(token);
    }
  };
  for (const AddedToken& token : added) add(token);
  kept = all.size();
  for (const char* name : names)
    if (const auto found = named.find(name); found != named.end()) add(found->second);
  for (const AddedToken& token : others) add(token);
  for (const AddedToken& token : extra) add(token);
  return all;
}

TokenizerSettings read_tokenizer_settings(const std::string& folder) {
  TokenizerSettings settings;
  std::map<int64_t, AddedToken> by_id;
  const JsonFile config(folder, "tokenizer_config.json");
  settings.kind = kind_in(config);
  // Older folders name it there, and it takes precedence over the family.
  if (settings.kind.empty()) settings.kind = kind_in(JsonFile(folder, "config.json"));
  bool complete = false;  // the file names every added token
  if (config) {
    for (const auto& [key, value] : config.object()) {
      bool flag;
      if (!value.get(flag)) settings.flags.emplace(key, flag);
      if (value.is_null()) settings.nulls.emplace(key);
    }
    int64_t extra_ids;
    constexpr int64_t most = 10'000;
    if (!config.object()["extra_ids"].get(extra_ids))
      settings.extra_ids = static_cast<int>(std::clamp<int64_t>(extra_ids, 0, most));
    read_named(config, settings);
    if (std::string_view language; !config.object()["src_lang"].get(language))
      settings.language = language;
    dom::element decoder;
    if (!config.object()["added_tokens_decoder"].get(decoder)) {
      settings.lists_added = complete = true;
      dom::object tokens;
      if (decoder.get(tokens))
        fail("{}: \"added_tokens_decoder\" is {}, expected an object; take it out", config.path(),
             std::string(simdjson::minify(decoder)).substr(0, 60));
      for (const auto& [id, value] : tokens) {
        const std::optional<int64_t> number = number_in(id);
        if (!number)
          fail("{}: \"added_tokens_decoder\" has '{}', expected a number there; check the file",
               config.path(), id);
        by_id[*number] = config.token(value, "added_tokens_decoder");
      }
    }
  }
  ExtraTokens extra;
  if (config) {
    read_others(config, settings);
    extra.read_config(config);
  }
  if (!complete) {
    if (const JsonFile map(folder, "special_tokens_map.json"); map) {
      read_named(map, settings);
      read_others(map, settings);
      extra.read_map(map);
    }
    extra.put(settings);
    if (const JsonFile added(folder, "added_tokens.json"); added)
      for (const auto& [content, value] : added.object()) {
        int64_t id;
        if (value.get(id))
          fail("{}/added_tokens.json: \"{}\" has no id, expected a number; check the file", folder,
               content);
        AddedToken token;
        token.content = content;
        token.special = false;
        token.normalised = true;
        for (const auto& [name, known] : settings.named)
          if (known.content == content) token = known;
        for (const AddedToken& known : settings.extra)
          if (known.content == content) token = known;
        by_id[id] = token;
      }
  }
  extra.put(settings);
  for (auto& [id, token] : by_id) settings.added.push_back(std::move(token));
  return settings;
}

}  // namespace headwater
