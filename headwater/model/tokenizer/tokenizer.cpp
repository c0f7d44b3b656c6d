#include "headwater/model/tokenizer/tokenizer.h"

#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/parse_json.h"
#include "headwater/model/tokenizer/added_tokens.h"
#include "headwater/model/tokenizer/budget.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/decoder.h"
#include "headwater/model/tokenizer/files/beside.h"
#include "headwater/model/tokenizer/files/compose.h"
#include "headwater/model/tokenizer/lost_parts.h"
#include "headwater/model/tokenizer/normalizer.h"
#include "headwater/model/tokenizer/post_processor.h"
#include "headwater/model/tokenizer/pre_tokenizer.h"
#include "headwater/model/tokenizer/word_model.h"

namespace headwater {

namespace dom = simdjson::dom;

struct Tokenizer::Parts {
  std::string name;
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<WordModel> model;
  std::unique_ptr<PostProcessor> post_processor;
  std::unique_ptr<Decoder> decoder;
  AddedTokens added;
  std::vector<int> assumed;  // tokens that no file has
  std::vector<std::string> notes;
};

namespace {

// Shortens the longer text first, then both evenly.
void cut_to(std::vector<Encoding>& parts, size_t limit) {
  if (parts.size() == 1) return parts[0].truncate(limit);
  size_t fewer = parts[0].size(), more = parts[1].size();
  if (fewer + more <= limit) return;
  const bool swapped = fewer > more;
  if (swapped) std::swap(fewer, more);
  more = fewer > limit ? fewer : std::max(fewer, limit - fewer);
  if (fewer + more > limit) {
    fewer = limit / 2;
    more = fewer + limit % 2;
  }
  if (swapped) std::swap(fewer, more);
  parts[0].truncate(fewer);
  parts[1].truncate(more);
}

void append(Encoding& out, Encoding&& part) {
  const auto move_behind = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_behind(out.ids, part.ids);
  move_behind(out.tokens, part.tokens);
  move_behind(out.offsets, part.offsets);
  move_behind(out.types, part.types);
  move_behind(out.sequences, part.sequences);
}

// Whether an added token of the file is none here.
bool loses_tokens(JsonPart& file, const AddedTokens& added) {
  std::string_view content;
  if (!file.has("added_tokens")) return false;
  const dom::array all = file.list("added_tokens");
  return std::ranges::any_of(all, [&](const dom::element one) {
    return !one["content"].get(content) && !added.id_of(content);
  });
}

// Tokens that neither the model nor "added_tokens" has.
std::vector<int> find_assumed(const std::vector<AddedToken>& tokens, const WordModel& model,
                              const std::optional<dom::array>& listed, const AddedTokens& added) {
  const auto is_listed = [&](const std::string& token) {
    std::string_view content;
    return listed && std::ranges::any_of(*listed, [&](const dom::element one) {
             return !one["content"].get(content) && content == token;
           });
  };
  std::vector<int> found;
  for (const AddedToken& one : tokens)
    if (const auto id = added.id_of(one.content);
        id && one.assumed && !model.id_of(one.content) && !is_listed(one.content))
      found.push_back(*id);
  return found;
}

std::string lost_note(const std::vector<std::string>& lost, std::string_view kind) {
  return fmt::format(
      "{} of tokenizer.json did not count: {}Tokenizer makes its own, as in transformers 5",
      fmt::join(lost, ", "), kind);
}

JsonPart component(JsonPart& file, std::string_view key, const std::string& name) {
  return {file.element(key), fmt::format("{}: {}", name, key)};
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::open(const std::string& path) {
  const MappedFile file(path);
  return parse(as_text(file.bytes()), path);
}

std::optional<Tokenizer> Tokenizer::open_folder(const std::string& folder,
                                                const std::string& family) {
  const auto path = std::filesystem::path(folder) / "tokenizer.json";
  std::error_code missing;
  if (std::filesystem::exists(path, missing)) {
    const MappedFile file(path.string());
    return parse(as_text(file.bytes()), path.string(),
                 [&](const dom::element& root) { return read_beside(folder, family, root); });
  }
  const auto json = compose_tokenizer(folder, family);
  if (!json) return {};
  BesideTokenizer beside;  // all else is composed already
  beside.split_special = read_tokenizer_settings(folder).flag_or("split_special_tokens", false);
  return parse(*json, folder, [&](const dom::element&) { return beside; });
}

Tokenizer Tokenizer::parse(std::string_view json, const std::string& name) {
  return parse(json, name, [](const dom::element&) { return BesideTokenizer(); });
}

Tokenizer Tokenizer::parse(std::string_view json, const std::string& name,
                           const ReadBeside& read_beside) {
  constexpr size_t largest = 1u << 30;  // the parser counts bytes in 32 bits, and needs more memory
  if (json.size() > largest)
    fail("{}: is {} bytes long, expected at most 1 GB; check the file", name, json.size());
  dom::parser parser;
  dom::element root;
  const simdjson::padded_string text = pad_json(json);
  if (const auto error = parse_padded(parser, text, root))
    fail("{}: is not JSON ({}), expected a tokenizer.json; check the file", name,
         simdjson::error_message(error));
  JsonPart file(root, name);
  if (const std::string version = file.text_or("version", "1.0"); version != "1.0")
    fail("{}: \"version\" is '{}', expected 1.0; save it with a current tokenizers package", name,
         version);
  for (const auto ignored : {"truncation", "padding"}) file.pass_over(ignored);

  const BesideTokenizer beside = read_beside(root);
  auto parts = std::make_unique<Parts>();
  parts->name = name;
  parts->notes = beside.notes;
  parts->model = read_word_model(component(file, "model", name), text, beside.unknown(root));
  // A part as the folder's other files make it, or else the file's.
  const auto read = [&](const char* key, const std::string& made, const auto& read_part) {
    if (made.empty()) {
      if (file.has(key)) read_part(component(file, key, name));
      return;
    }
    dom::parser own;
    dom::element part;
    if (parse_json(own, made, part)) fail("{}: the {} cannot be made; check the file", name, key);
    if (!part.is_null()) read_part(JsonPart(part, fmt::format("{}: {}", name, key)));
  };
  read("normalizer", beside.part("normalizer", root),
       [&](JsonPart part) { parts->normalizer = read_normalizer(std::move(part)); });
  read("pre_tokenizer", beside.part("pre_tokenizer", root),
       [&](JsonPart part) { parts->pre_tokenizer = read_pre_tokenizer(std::move(part)); });
  read("decoder", beside.part("decoder", root),
       [&](JsonPart part) { parts->decoder = read_decoder(std::move(part)); });
  std::optional<dom::array> added;
  if (file.has("added_tokens") && !beside.lists_added) added = file.list("added_tokens");
  parts->added = AddedTokens(added, beside.tokens, *parts->model, parts->normalizer.get(),
                             name + ": \"added_tokens\"");
  parts->assumed = find_assumed(beside.tokens, *parts->model, added, parts->added);
  const auto id = [&](const std::string& token) {
    const auto added_id = parts->added.id_of(token);
    return added_id ? added_id : parts->model->id_of(token);
  };
  read("post_processor", beside.post_processor(id),
       [&](JsonPart part) { parts->post_processor = read_post_processor(std::move(part)); });
  if (beside.split_special) parts->added.split_special();
  if (beside.rules) {
    std::vector<std::string> lost = lost_parts(
        file, {parts->normalizer.get(), parts->pre_tokenizer.get(), parts->post_processor.get()});
    const auto unknown = beside.unknown(root);
    if (std::string_view own; unknown && !root["model"]["unk_token"].get(own) && own != *unknown)
      lost.emplace_back("unk_token");
    if (loses_tokens(file, parts->added)) lost.emplace_back("added_tokens");
    if (!lost.empty()) parts->notes.push_back(lost_note(lost, beside.rules->kind.name));
  }
  for (const auto key :
       {"normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens"})
    file.pass_over(key);
  file.finish();
  return Tokenizer(std::move(parts));
}

Encoding Tokenizer::encode_one(std::string_view text, int sequence) const {
  check_utf8(text, sequence == 0 ? "the text" : "the pair's text");
  if (text.size() >= 1u << 31)
    fail("the text is {} bytes long, expected fewer than 2^31; split it", text.size());
  const Budget budget(text.size(), parts_->name);
  Splits splits = parts_->added.split(text, parts_->normalizer.get());
  if (parts_->pre_tokenizer) parts_->pre_tokenizer->apply(splits);
  Encoding out;
  const auto add = [&](const AlignedText& piece, PieceToken&& token) {
    out.add(token.id, std::move(token.text), piece.original_of(token.begin, token.end), sequence,
            sequence);
  };
  for (Split& split : splits) {
    if (split.token) {
      add(split.text, std::move(*split.token));
      continue;
    }
    if (split.text.empty()) continue;
    for (PieceToken& token : parts_->model->tokenise(split.text.text()))
      add(split.text, std::move(token));
  }
  return out;
}

size_t Tokenizer::special_count(bool pair) const {
  return parts_->post_processor ? parts_->post_processor->added(pair) : 0;
}

Encoding Tokenizer::encode(std::string_view text, std::optional<std::string_view> pair,
                           bool special, std::optional<size_t> limit) const {
  std::vector<Encoding> parts;
  size_t cut = 0;
  parts.push_back(encode_one(text, 0));
  if (pair) parts.push_back(encode_one(*pair, 1));
  if (limit) {
    const size_t added = special ? special_count(pair.has_value()) : 0;
    if (added > *limit)
      fail("{}: {} special tokens do not fit into {}, expected room for them; allow more tokens",
           parts_->name, added, *limit);
    const auto count = [&] {
      size_t sum = 0;
      for (const Encoding& part : parts) sum += part.size();
      return sum;
    };
    const size_t before = count();
    cut_to(parts, *limit - added);
    cut = before - count();
  }
  if (parts_->post_processor)
    parts_->post_processor->apply(parts, {text, pair.value_or("")}, special);
  Encoding out = std::move(parts[0]);
  for (size_t k = 1; k < parts.size(); ++k) append(out, std::move(parts[k]));
  out.cut = cut;
  return out;
}

std::string Tokenizer::decode(std::span<const int> ids, bool skip_special) const {
  std::vector<std::string> tokens;
  for (const int id : ids) {
    auto token = parts_->added.token_of(id);
    if (!token) token = parts_->model->token_of(id);
    if (!token || (skip_special && parts_->added.is_special(*token))) continue;
    tokens.emplace_back(*token);
  }
  size_t bytes = 0;
  for (const std::string& token : tokens) bytes += token.size();
  const Budget budget(bytes, parts_->name);
  const bool joined = parts_->decoder != nullptr;
  if (joined) tokens = parts_->decoder->apply(std::move(tokens));
  std::string out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !joined) out += ' ';
    out += tokens[i];
  }
  return out;
}

std::optional<int> Tokenizer::id_of(std::string_view token) const {
  const auto added = parts_->added.id_of(token);
  return added ? added : parts_->model->id_of(token);
}

bool Tokenizer::knows(int id) const {
  return parts_->added.token_of(id) || parts_->model->token_of(id);
}

bool Tokenizer::is_assumed(int id) const {
  return std::ranges::find(parts_->assumed, id) != parts_->assumed.end();
}

std::string Tokenizer::token_of(int id) const {
  auto token = parts_->added.token_of(id);
  if (!token) token = parts_->model->token_of(id);
  if (!token)
    fail("{}: no token has the id {}, expected one of its {} tokens; check the ids", parts_->name,
         id, size());
  return std::string(*token);
}

bool Tokenizer::is_special(int id) const {
  const auto token = parts_->added.token_of(id);
  return token && parts_->added.is_special(*token);
}

const std::vector<std::string>& Tokenizer::notes() const { return parts_->notes; }

int Tokenizer::size() const { return parts_->model->size() + parts_->added.beyond(*parts_->model); }

}  // namespace headwater
