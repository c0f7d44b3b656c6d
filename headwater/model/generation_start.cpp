#include "headwater/model/generation_start.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/model/model_description.h"
#include "headwater/model/target.h"
#include "headwater/model/tokenizer/tokenizer.h"

namespace headwater {
namespace {

namespace fs = std::filesystem;

// A number or a list; generation_config.json overrides config.json.
std::vector<int> setting(const Model& model, const char* key) {
  const std::string path = (fs::path(model.folder()) / "generation_config.json").string();
  std::error_code missing;
  if (fs::exists(path, missing))
    if (const Config config = Config::open(path); config.has(key)) return config.integers(key);
  if (model.config().has(key)) return model.config().integers(key);
  return {};
}

// Entries that let transformers choose other tokens, and the values that do not.
struct Choosing {
  const char* key;
  double neutral;
};
constexpr Choosing choosing[] = {
    {"num_beams", 1},       {"no_repeat_ngram_size", 0},  {"encoder_no_repeat_ngram_size", 0},
    {"min_length", 0},      {"min_new_tokens", 0},        {"repetition_penalty", 1},
    {"guidance_scale", 1},  {"num_beam_groups", 1},       {"penalty_alpha", 0},
    {"suppress_tokens", 0}, {"begin_suppress_tokens", 0}, {"bad_words_ids", 0},
};

std::vector<std::string> not_followed(const Config& config) {
  std::vector<std::string> found;
  for (const auto& [key, neutral] : choosing) {
    if (!config.has(key)) continue;
    const std::string value = config.shown(key);
    const bool changes = config.is_list(key) ? value != "[]" : config.number(key) != neutral;
    if (changes) found.push_back(fmt::format("{} {}", key, value));
  }
  return found;
}

// One note of all of them; older folders have these entries in config.json.
void add_note(const Model& model, std::vector<std::string>& notes) {
  const std::string path = (fs::path(model.folder()) / "generation_config.json").string();
  std::error_code missing;
  const bool own = fs::exists(path, missing);
  const std::vector<std::string> found =
      own ? not_followed(Config::open(path)) : not_followed(model.config());
  if (!found.empty())
    notes.push_back(fmt::format(
        "{} sets {}, which headwater does not follow: tokens may differ from those of transformers",
        own ? "generation_config.json" : "config.json", fmt::join(found, ", ")));
}

void add_token(const Model& model, int id, Description& prompt) {
  prompt.ids.push_back(id);
  prompt.tokens.push_back(model.token_name(id));
  prompt.places.push_back({-1, 0, 0});
}

// What transformers puts before a target: the start token, and the one that it always writes first.
void add_target_start(const Model& model, Description& prompt) {
  std::vector<int> start = setting(model, "decoder_start_token_id");
  if (start.empty() && model.architecture().start_id) start = {*model.architecture().start_id};
  if (start.empty()) start = setting(model, "bos_token_id");
  if (start.empty())
    fail(
        "{}: neither generation_config.json nor config.json has 'decoder_start_token_id', expected "
        "the token that a target starts with; add it",
        model.name());
  add_token(model, start.front(), prompt);
  for (const int id : setting(model, "forced_bos_token_id")) add_token(model, id, prompt);
}

const Tokenizer& tokenizer_of(const Model& model, const char* what) {
  const Tokenizer* tokenizer = model.tokenizer();
  if (!tokenizer)
    fail("{}: has no tokenizer, expected one for a {}; give `ids`", model.name(), what);
  return *tokenizer;
}

void add(const Encoding& encoding, size_t t, Description& text) {
  text.tokens.push_back(encoding.tokens[t]);
  text.ids.push_back(encoding.ids[t]);
  text.places.push_back(
      {encoding.sequences[t], encoding.offsets[t].begin, encoding.offsets[t].end});
}

// Cuts the tokens of both texts where the prompt ends.
void add_texts(const Tokenizer& tokenizer, const std::string& prompt, const GenerationInput& input,
               bool target, GenerationStart& out) {
  const Encoding encoding = tokenizer.encode(prompt + input.continuation.value_or(""), {}, !target);
  out.prompt.texts = {prompt};
  size_t count = encoding.size();
  // Drops a token that the tokenizer adds at the end of every text: it would end this one at once.
  while (count > 1 && encoding.sequences[count - 1] < 0) --count;
  for (size_t t = 0; t < count; ++t) {
    const bool own = encoding.sequences[t] < 0;
    if (!own && encoding.offsets[t].end > prompt.size()) {
      out.continuation.assign(encoding.ids.begin() + static_cast<std::ptrdiff_t>(t),
                              encoding.ids.begin() + static_cast<std::ptrdiff_t>(count));
      return;
    }
    add(encoding, t, out.prompt);
  }
}

void take_ids(const Model& model, const std::vector<int>& ids, Description& text) {
  text.ids = ids;
  for (const int id : ids) text.tokens.push_back(model.token_name(id));
}

}  // namespace

GenerationStart start_of(const Model& model, const GenerationInput& input) {
  GenerationStart out;
  out.prompt = model_description(model);
  const bool target = model.architecture().cross.has_value();
  const std::string prompt = target ? input.prompt : input.reads.value_or(input.prompt);
  if (target) add_target_start(model, out.prompt);
  if (!target && !input.ids.empty())
    take_ids(model, input.ids, out.prompt);
  else if (!target || !prompt.empty() || input.continuation)
    add_texts(tokenizer_of(model, "prompt"), prompt, input, target, out);
  if (out.prompt.ids.empty())
    fail("{}: the prompt has no tokens, expected at least one; give a longer `prompt`",
         model.name());
  if (input.continuation && out.continuation.empty())
    fail("{}: the continuation has no tokens, expected at least one; give a longer one",
         model.name());
  out.prompt.padded = static_cast<int>(out.prompt.ids.size());
  out.ends = setting(model, "eos_token_id");
  for (const std::string& stop : input.stops)
    out.ends.push_back(word_number(model, model.architecture().text->vocabulary, stop));
  if (!out.prompt.texts.empty() || input.text) out.notes = model.tokenizer()->notes();
  if (!input.continuation) add_note(model, out.notes);
  return out;
}

Description source_of(const Model& decoder, const GenerationInput& input) {
  Description source = model_description(decoder);
  if (!input.ids.empty()) {
    take_ids(decoder, input.ids, source);
  } else {
    const std::optional<std::string> text = input.text ? input.text : input.reads;
    if (!text)
      fail(
          "{}: is a {} model, which reads a source before it writes, expected a source; give a "
          "`text`, and a `prompt` only for how the target starts",
          decoder.name(), decoder.architecture().family);
    const Encoding encoding = tokenizer_of(decoder, "text").encode(*text);
    for (size_t t = 0; t < encoding.size(); ++t) add(encoding, t, source);
    source.texts = {*text};
  }
  if (source.ids.empty())
    fail("{}: the text has no tokens, expected at least one; give a longer `text`", decoder.name());
  source.padded = static_cast<int>(source.ids.size());
  return source;
}

}  // namespace headwater
