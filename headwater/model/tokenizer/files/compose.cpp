#include "headwater/model/tokenizer/files/compose.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/model/tokenizer/files/components.h"
#include "headwater/model/tokenizer/files/kinds.h"
#include "headwater/model/tokenizer/files/rules.h"
#include "headwater/model/tokenizer/files/sentencepiece.h"
#include "headwater/model/tokenizer/files/settings.h"
#include "headwater/model/tokenizer/files/words.h"

namespace headwater {
namespace {

namespace fs = std::filesystem;

constexpr const char* sentencepiece_files[] = {"tokenizer.model", "sentencepiece.bpe.model",
                                               "spiece.model", "spm.model"};

using Files = TokenizerKind::Files;

class Composer {
 public:
  Composer(const std::string& folder, const TokenizerKind& kind, TokenizerSettings settings)
      : folder_(folder), kind_(kind), rules_(kind, std::move(settings)) {}

  std::string json() {
    std::string model, charsmap;
    switch (kind_.files) {
      case Files::words:
        words_ = read_word_list(path("vocab.txt"));
        model =
            fmt::format(R"({{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":"##",)"
                        R"("max_input_chars_per_word":100,"vocab":{}}})",
                        json_text(named("unk_token")), vocabulary(words_));
        break;
      case Files::merges:
        words_ = read_word_numbers(path("vocab.json"));
        model = bpe(vocabulary(words_), merge_list(read_merges(path("merges.txt"))), false);
        break;
      case Files::sentencepiece:
        model = read_pieces(charsmap);
    }
    // Ids of added tokens follow from their order.
    std::string added;
    for (const AddedToken& token : added_tokens())
      added += fmt::format(
          R"({}{{"id":0,"content":{},"single_word":{},"lstrip":{},"rstrip":{},"normalized":{},)"
          R"("special":{}}})",
          added.empty() ? "" : ",", json_text(token.content), token.single_word, token.lstrip,
          token.rstrip, token.normalised, token.special);
    const std::string after =
        rules_.post_processor([&](const std::string& name) { return id(name); });
    return fmt::format(
        R"({{"version":"1.0","added_tokens":[{}],"normalizer":{},"pre_tokenizer":{},)"
        R"("post_processor":{},"decoder":{},"model":{}}})",
        added, rules_.normalizer(charsmap), rules_.pre_tokenizer(), after, rules_.decoder(), model);
  }

 private:
  std::string path(const char* name) const { return (fs::path(folder_) / name).string(); }
  std::string named(const std::string& name) const { return rules_.named(name); }

  std::string bpe(const std::string& vocabulary, const std::string& merges, bool pieces) const {
    const bool ends = kind_.name == "CLIP";
    return fmt::format(
        R"({{"type":"BPE","dropout":null,"unk_token":{4},"continuing_subword_prefix":{0},)"
        R"("end_of_word_suffix":{5},"fuse_unk":{1},"byte_fallback":{1},"ignore_merges":false,)"
        R"("vocab":{2},"merges":{3}}})",
        pieces ? "null" : "\"\"", pieces, vocabulary, merges,
        ends || kind_.name == "Gemma" ? json_text(named("unk_token")) : "null",
        pieces ? "null"
        : ends ? "\"</w>\""
               : "\"\"");
  }

  // The model of a SentencePiece file, with its map of characters and the tokens that it adds.
  std::string read_pieces(std::string& charsmap) {
    std::error_code missing;
    const auto name = std::ranges::find_if(
        sentencepiece_files, [&](const char* one) { return fs::exists(path(one), missing); });
    const MappedFile file(path(*name));
    const SentencePieceModel model = read_sentencepiece(file.bytes(), path(*name));
    const bool merged = model.kind == SentencePieceModel::Kind::bpe;
    if (merged != rules_.merged())
      fail("{}: is a {} model, expected {} for {}Tokenizer; check tokenizer_config.json",
           path(*name), merged ? "BPE" : "unigram", merged ? "unigram" : "BPE", kind_.name);
    using Piece = std::pair<std::string, float>;
    std::vector<Piece> pieces;
    const auto front = [&](std::initializer_list<std::string> texts) {
      for (const std::string& one : texts) pieces.emplace_back(one, 0.0f);
    };
    size_t skipped = 0;
    int unknown = model.unknown;
    // These keep the ids of fairseq, whose own tokens come first.
    if (kind_.name == "XLMRoberta" || !rules_.languages().empty()) {
      front({named(kind_.name == "MBart50" ? "cls_token" : "bos_token"), named("pad_token"),
             named("eos_token"), named("unk_token")});
      skipped = 3;
      unknown = 3;
    } else if (kind_.name == "Camembert") {
      front({"<s>NOTUSED", named("pad_token"), "</s>NOTUSED", named("unk_token")});
      pieces.emplace_back("<unk>NOTUSED", -100.0f);
      skipped = 1;
      unknown = 3;
    } else if (kind_.name == "Albert") {
      unknown = 1;
    } else if (kind_.name == "T5") {
      unknown = 2;
    }
    for (size_t k = skipped; k < model.pieces.size(); ++k)
      pieces.emplace_back(model.pieces[k].text, model.pieces[k].score);
    for (const std::string_view code : rules_.languages()) front({std::string(code)});
    if (skipped > 0) front({named("mask_token")});
    // T5 fills in gaps with these, of which the first have the last ids.
    const int gaps = kind_.name == "T5" ? rules_.settings.extra_ids : 0;
    for (int k = gaps - 1; k >= 0; --k) front({fmt::format("<extra_id_{}>", k)});
    // Older files of Gemma have no piece for a tab, whose byte takes its place.
    if (kind_.name == "Gemma" && std::ranges::find(pieces, "\t", &Piece::first) == pieces.end())
      for (Piece& piece : pieces)
        if (piece.first == "<0x09>") piece.first = "\t";
    for (size_t k = 0; k < pieces.size(); ++k) words_[pieces[k].first] = static_cast<int>(k);
    if (!rules_.settings.lists_extra) rules_.settings.extra = own_tokens(model, gaps);
    rules_.add_own_extra();
    if (!model.charsmap.empty()) charsmap = precompiled(model.charsmap);
    if (merged) return bpe(vocabulary(words_), merge_list(merges_of(words_)), true);
    std::string list;
    for (const auto& [piece, score] : pieces)
      list += fmt::format("{}[{},{}]", list.empty() ? "" : ",", json_text(piece),
                          static_cast<double>(score));
    return fmt::format(R"({{"type":"Unigram","unk_id":{},"vocab":[{}],"byte_fallback":false}})",
                       unknown, list);
  }

  // The extra tokens of a SentencePiece file, in whose place others may be listed.
  std::vector<AddedToken> own_tokens(const SentencePieceModel& model, int gaps) const {
    std::vector<AddedToken> own;
    for (const SentencePiece& piece : model.pieces) {
      const bool control = piece.type == SentencePiece::Type::control;
      if (!control && piece.type != SentencePiece::Type::user_defined) continue;
      if (kind_.name == "Siglip") continue;  // whose slow tokenizer takes them for words
      AddedToken token;
      token.content = piece.text;
      token.special = control;
      own.push_back(token);
    }
    for (int k = gaps - 1; k >= 0; --k) {
      AddedToken token;
      token.content = fmt::format("<extra_id_{}>", k);
      token.special = true;
      own.push_back(token);
    }
    return own;
  }

  std::vector<AddedToken> added_tokens() {
    std::vector<AddedToken> all = rules_.settings.tokens();
    int next = static_cast<int>(words_.size());
    for (const AddedToken& token : all)
      if (words_.emplace(token.content, next).second) ++next;
    return all;
  }

  int id(const std::string& name) const {
    const bool is_code = !name.ends_with("_token");
    const auto found = words_.find(is_code ? name : named(name));
    if (found == words_.end())
      fail("{}: {} '{}' is not in the vocabulary, expected it there; check the file",
           path("tokenizer_config.json"), is_code ? "src_lang" : name,
           is_code ? name : named(name));
    return found->second;
  }

  const std::string& folder_;
  const TokenizerKind& kind_;
  TokenizerRules rules_;
  Words words_;
};

}  // namespace

std::optional<std::string> compose_tokenizer(const std::string& folder, const std::string& family) {
  std::error_code missing;
  const auto has = [&](const char* name) { return fs::exists(fs::path(folder) / name, missing); };
  const bool pieces = std::ranges::any_of(sentencepiece_files, has);
  const bool merges = has("vocab.json") && has("merges.txt");
  if (!has("vocab.txt") && !merges && !pieces) return {};
  TokenizerSettings settings = read_tokenizer_settings(folder);
  const std::string name = kind_of(settings, family);
  const TokenizerKind* kind = find_kind(name);
  if (!kind)
    fail(
        "{}: has no tokenizer.json, and headwater does not know how {} is made of other files, "
        "expected one of {}; save it with AutoTokenizer and save_pretrained of transformers, or "
        "give `ids`",
        folder, name.empty() ? "the tokenizer of a " + family + " model" : name + "Tokenizer",
        fmt::join(kind_names(), ", "));
  const bool there = kind->files == Files::words    ? has("vocab.txt")
                     : kind->files == Files::merges ? merges
                                                    : pieces;
  if (!there)
    fail("{}: has no tokenizer.json, expected {} for {}Tokenizer; copy it again, or give `ids`",
         folder,
         kind->files == Files::words    ? "vocab.txt"
         : kind->files == Files::merges ? "vocab.json and merges.txt"
                                        : "a SentencePiece model",
         name);
  return Composer(folder, *kind, std::move(settings)).json();
}

}  // namespace headwater
