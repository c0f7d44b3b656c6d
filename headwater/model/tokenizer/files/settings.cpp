#include "headwater/model/tokenizer/files/settings.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/parse_json.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

constexpr const char* names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                 "pad_token", "cls_token", "mask_token"};

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
  const dom::object& object() const { return object_; }

  // A token as a text, or as an object with its options.
  AddedToken token(const dom::element& value, std::string_view what) const {
    AddedToken token;
    std::string_view text;
    dom::object object;
    if (!value.get(text)) {
      token.content = text;
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

}  // namespace

bool TokenizerSettings::flag_or(const std::string& name, bool otherwise) const {
  const auto found = flags.find(name);
  return found == flags.end() ? otherwise : found->second;
}

std::vector<AddedToken> TokenizerSettings::tokens() const {
  std::vector<AddedToken> all;
  std::set<std::string> seen;
  const auto add = [&](AddedToken token) {
    if (token.content.empty() || !seen.insert(token.content).second) return;
    for (const auto& [name, known] : named)
      if (known.content == token.content) token.special = true;
    all.push_back(std::move(token));
  };
  for (const AddedToken& token : added) add(token);
  for (const char* name : names)
    if (const auto found = named.find(name); found != named.end()) add(found->second);
  for (const AddedToken& token : extra) add(token);
  return all;
}

TokenizerSettings read_tokenizer_settings(const std::string& folder) {
  TokenizerSettings settings;
  std::map<int64_t, AddedToken> by_id;
  const JsonFile config(folder, "tokenizer_config.json");
  settings.kind = kind_in(config);
  // Older folders say it there, where it counts more than the family.
  if (settings.kind.empty()) settings.kind = kind_in(JsonFile(folder, "config.json"));
  bool complete = false;  // the file names every added token
  if (config) {
    for (const auto& [key, value] : config.object()) {
      bool flag;
      if (!value.get(flag)) settings.flags.emplace(key, flag);
    }
    int64_t extra_ids;
    constexpr int64_t most = 10'000;
    if (!config.object()["extra_ids"].get(extra_ids))
      settings.extra_ids = static_cast<int>(std::clamp<int64_t>(extra_ids, 0, most));
    read_named(config, settings);
    dom::object decoder;
    if (!config.object()["added_tokens_decoder"].get(decoder)) {
      complete = true;
      for (const auto& [id, value] : decoder) {
        int64_t number = -1;
        std::from_chars(id.data(), id.data() + id.size(), number);
        by_id[number] = config.token(value, "added_tokens_decoder");
      }
    }
  }
  const auto read_more = [&](const JsonFile& file) {
    // The newer name counts more.
    for (const char* key : {"extra_special_tokens", "additional_special_tokens"}) {
      const size_t before = settings.extra.size();
      const auto take = [&](const dom::element& value) {
        settings.extra.push_back(file.token(value, key));
        settings.extra.back().special = true;
      };
      dom::array list;
      dom::object by_name;
      if (!file.object()[key].get(list))
        for (const dom::element value : list) take(value);
      if (!file.object()[key].get(by_name))
        for (const auto& [name, value] : by_name) take(value);
      if (settings.extra.size() > before) return;
    }
  };
  if (config) read_more(config);
  if (!complete) {
    if (const JsonFile map(folder, "special_tokens_map.json"); map) {
      read_named(map, settings);
      settings.extra.clear();
      read_more(map);
    }
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
  for (auto& [id, token] : by_id) settings.added.push_back(std::move(token));
  return settings;
}

}  // namespace headwater
