#include "headwater/model/tokenizer/files/compose.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/model/tokenizer/files/components.h"
#include "headwater/model/tokenizer/files/kinds.h"
#include "headwater/model/tokenizer/files/sentencepiece.h"
#include "headwater/model/tokenizer/files/settings.h"
#include "headwater/model/tokenizer/files/words.h"

namespace headwater {
namespace {

namespace fs = std::filesystem;

constexpr const char* sentencepiece_files[] = {"tokenizer.model", "sentencepiece.bpe.model",
                                               "spiece.model", "spm.model"};

using Files = TokenizerKind::Files;

std::string text(bool flag) { return flag ? "true" : "false"; }

class Composer {
 public:
  Composer(const std::string& folder, const TokenizerKind& kind, TokenizerSettings settings)
      : folder_(folder), kind_(kind), settings_(std::move(settings)) {
    const std::pair<const char*, std::string_view> defaults[] = {
        {"bos_token", kind.bos},  {"eos_token", kind.eos}, {"unk_token", kind.unk},
        {"sep_token", kind.sep},  {"pad_token", kind.pad}, {"cls_token", kind.cls},
        {"mask_token", kind.mask}};
    for (const auto& [name, content] : defaults)
      if (!settings_.named.contains(name)) {
        settings_.named[name].content = content;
        // Spaces around tokens of SigLIP, and before these masks, belong to them.
        if (kind.name == "Siglip")
          settings_.named[name].lstrip = settings_.named[name].rstrip = true;
        if (std::string_view(name) == "mask_token" &&
            (kind.name == "MPNet" || kind.name == "Camembert")) {
          settings_.named[name].lstrip = true;
          settings_.named[name].normalised = kind.name == "MPNet";
        }
      }
  }

  std::string json() {
    std::string model, normalizer = "null", before, after, decoder;
    switch (kind_.files) {
      case Files::words:
        words_ = read_word_list(path("vocab.txt"));
        model =
            fmt::format(R"({{"type":"WordPiece","unk_token":{},"continuing_subword_prefix":"##",)"
                        R"("max_input_chars_per_word":100,"vocab":{}}})",
                        json_text(named("unk_token")), vocabulary(words_));
        normalizer = bert_normalizer();
        before = R"({"type":"BertPreTokenizer"})";
        decoder = R"({"type":"WordPiece","prefix":"##","cleanup":true})";
        break;
      case Files::merges:
        words_ = read_word_numbers(path("vocab.json"));
        model = bpe(vocabulary(words_), merge_list(read_merges(path("merges.txt"))), false);
        before = byte_level();
        decoder =
            R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})";
        if (kind_.name == "Qwen2") normalizer = R"({"type":"NFC"})";
        if (kind_.name == "CLIP") {
          normalizer = clip_normalizer();
          decoder = clip_decoder(decoder);
        }
        break;
      case Files::sentencepiece:
        model = read_pieces(normalizer);
        before =
            kind_.name == "Llama" ? metaspace("\"split\":false,", prepend())
            : kind_.name == "Gemma"
                ? R"({"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious",)"
                  R"("invert":false})"
                : fmt::format(R"({{"type":"Sequence","pretokenizers":[)"
                              R"({}{}]}})",
                              split_first(), metaspace("\"split\":true,", prepend()));
        decoder = merged() ? merged_decoder(kind_.name == "Llama" && flag("add_prefix_space", true))
                           : metaspace("\"split\":true,", prepend());
    }
    // Ids of added tokens follow from their order.
    std::string added;
    for (const AddedToken& token : added_tokens())
      added += fmt::format(
          R"({}{{"id":0,"content":{},"single_word":{},"lstrip":{},"rstrip":{},"normalized":{},)"
          R"("special":{}}})",
          added.empty() ? "" : ",", json_text(token.content), token.single_word, token.lstrip,
          token.rstrip, token.normalised, token.special);
    after = post_processor();
    return fmt::format(
        R"({{"version":"1.0","added_tokens":[{}],"normalizer":{},"pre_tokenizer":{},)"
        R"("post_processor":{},"decoder":{},"model":{}}})",
        added, normalizer, before, after, decoder, model);
  }

 private:
  std::string path(const char* name) const { return (fs::path(folder_) / name).string(); }
  std::string named(const std::string& name) const { return settings_.named.at(name).content; }
  bool flag(const char* name, bool otherwise) const { return settings_.flag_or(name, otherwise); }
  // Whether its SentencePiece model merges pieces, and falls back to bytes.
  bool merged() const { return kind_.name == "Llama" || kind_.name == "Gemma"; }

  std::string bert_normalizer() const {
    const auto accents = settings_.flags.find("strip_accents");
    return fmt::format(R"({{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":{},)"
                       R"("strip_accents":{},"lowercase":{}}})",
                       flag("tokenize_chinese_chars", true),
                       accents == settings_.flags.end() ? "null" : text(accents->second),
                       flag("do_lower_case", true));
  }

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

  std::string byte_level() const {
    std::string bytes = fmt::format(
        R"({{"type":"ByteLevel","add_prefix_space":{},"trim_offsets":true,"use_regex":{}}})",
        kind_.name != "CLIP" && flag("add_prefix_space", false), kind_.name != "Qwen2");
    if (kind_.name == "CLIP")
      return split_before(R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|)"
                          R"([\p{N}]|[^\s\p{L}\p{N}]+)",
                          "Removed", true, bytes);
    if (kind_.name != "Qwen2") return bytes;
    return split_before(
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+)"
        R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        "Isolated", false, bytes);
  }

  // What splits a text before its spaces are marked.
  const char* split_first() const {
    if (kind_.name == "Siglip") return "";
    if (kind_.name != "DebertaV2") return R"({"type":"WhitespaceSplit"},)";
    return flag("split_by_punct", false) ? R"({"type":"Punctuation","behavior":"Isolated"},)" : "";
  }

  // Whether a mark for a space goes before every part of a text, before the first, or nowhere.
  const char* prepend() const {
    if (kind_.name == "T5") return "always";
    if (!flag("add_prefix_space", true)) return kind_.name == "DebertaV2" ? "first" : "never";
    if (kind_.name == "Siglip") return "first";
    return kind_.name == "Llama" && !flag("legacy", false) ? "first" : "always";
  }

  // The model of a SentencePiece file, with its normalizer and the tokens that it adds.
  std::string read_pieces(std::string& normalizer) {
    std::error_code missing;
    const auto name = std::ranges::find_if(
        sentencepiece_files, [&](const char* one) { return fs::exists(path(one), missing); });
    const MappedFile file(path(*name));
    const SentencePieceModel model = read_sentencepiece(file.bytes(), path(*name));
    const bool merged = model.kind == SentencePieceModel::Kind::bpe;
    if (merged != this->merged())
      fail("{}: is a {} model, expected {} for {}Tokenizer; check tokenizer_config.json",
           path(*name), merged ? "BPE" : "unigram", merged ? "unigram" : "BPE", kind_.name);
    using Piece = std::pair<std::string, float>;
    std::vector<Piece> pieces;
    const auto front = [&](std::initializer_list<std::string> texts) {
      for (const std::string& one : texts) pieces.emplace_back(one, 0.0f);
    };
    size_t skipped = 0;
    int unknown = model.unknown;
    // These two keep the ids of fairseq, whose own tokens come first.
    if (kind_.name == "XLMRoberta") {
      front({named("bos_token"), named("pad_token"), named("eos_token"), named("unk_token")});
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
    if (kind_.name == "XLMRoberta" || kind_.name == "Camembert") front({named("mask_token")});
    // T5 fills in gaps with these, of which the first have the last ids.
    const int gaps = kind_.name == "T5" ? settings_.extra_ids : 0;
    for (int k = gaps - 1; k >= 0; --k) front({fmt::format("<extra_id_{}>", k)});
    // Older files of Gemma have no piece for a tab, whose byte takes its place.
    if (kind_.name == "Gemma" && std::ranges::find(pieces, "\t", &Piece::first) == pieces.end())
      for (Piece& piece : pieces)
        if (piece.first == "<0x09>") piece.first = "\t";
    for (size_t k = 0; k < pieces.size(); ++k) words_[pieces[k].first] = static_cast<int>(k);
    if (!settings_.lists_extra) settings_.extra = own_tokens(model, gaps);
    normalizer = piece_normalizer(model);
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

  std::string piece_normalizer(const SentencePieceModel& model) const {
    std::vector<std::string> steps;
    if (kind_.name == "Llama") return "null";
    if (kind_.name == "Gemma")
      return R"({"type":"Replace","pattern":{"String":" "},"content":"\u2581"})";
    if (kind_.name == "DebertaV2") {
      return fmt::format(R"({{"type":"Sequence","normalizers":[{}{},{{"type":"NFC"}},)"
                         R"({{"type":"Strip","strip_left":false,"strip_right":true}}]}})",
                         flag("do_lower_case", false) ? R"({"type":"Lowercase"},)" : "",
                         replacing(R"(\s{2,}|[\n\r\t])", " "));
    }
    if (kind_.name == "Albert") {
      for (const char* quotes : {"``", "''"})
        steps.push_back(fmt::format(
            R"({{"type":"Replace","pattern":{{"String":"{}"}},"content":"\""}})", quotes));
      if (!flag("keep_accents", false)) {
        steps.emplace_back(R"({"type":"NFKD"})");
        steps.emplace_back(R"({"type":"StripAccents"})");
      }
      if (flag("do_lower_case", true)) steps.emplace_back(R"({"type":"Lowercase"})");
    }
    if (kind_.name == "Siglip")
      return siglip_normalizer(flag("do_lower_case", true), model.charsmap);
    if (!model.charsmap.empty()) steps.push_back(precompiled(model.charsmap));
    if (steps.empty()) return "null";
    return fmt::format(R"({{"type":"Sequence","normalizers":[{}]}})", fmt::join(steps, ","));
  }

  std::vector<AddedToken> added_tokens() {
    std::vector<AddedToken> all = settings_.tokens();
    int next = static_cast<int>(words_.size());
    for (const AddedToken& token : all)
      if (words_.emplace(token.content, next).second) ++next;
    return all;
  }

  int id(const std::string& name) const {
    const auto found = words_.find(named(name));
    if (found == words_.end())
      fail("{}: {} '{}' is not in the vocabulary, expected it there; check the file",
           path("tokenizer_config.json"), name, named(name));
    return found->second;
  }

  std::string post_processor() const {
    const auto roberta = [&](const char* first, const char* last, bool trim, bool space) {
      return roberta_processing({named(first), id(first)}, {named(last), id(last)}, trim, space);
    };
    if (kind_.name == "Roberta" || kind_.name == "Bart" || kind_.name == "MPNet")
      return roberta("cls_token", "sep_token", flag("trim_offsets", kind_.name != "MPNet"),
                     kind_.name != "MPNet" && flag("add_prefix_space", false));
    if (kind_.name == "CLIP") return roberta("bos_token", "eos_token", false, false);
    if (kind_.name == "XLMRoberta" || kind_.name == "Camembert")
      return sequence("bos_token", "eos_token", true);
    if (kind_.files == Files::words || kind_.name == "Albert" || kind_.name == "DebertaV2")
      return sequence("cls_token", "sep_token", false);
    if (kind_.name == "T5" || kind_.name == "Siglip") {
      const std::string end = special("eos_token", 0);
      return templated(fmt::format("{},{}", part('A', 0), end),
                       fmt::format("{},{},{},{}", part('A', 0), end, part('B', 0), end),
                       {"eos_token"});
    }
    return ends();
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
    const bool bos = flag("add_bos_token", kind_.name == "Gemma") && !named("bos_token").empty();
    const bool eos = flag("add_eos_token", false) && !named("eos_token").empty();
    const auto whole = [&](char text, int type) {
      return (bos ? special("bos_token", type) + "," : "") + part(text, type) +
             (eos ? "," + special("eos_token", type) : "");
    };
    std::vector<const char*> used;
    if (bos) used.push_back("bos_token");
    if (eos && (!bos || named("bos_token") != named("eos_token"))) used.push_back("eos_token");
    return templated(whole('A', 0), whole('A', 0) + "," + whole('B', 1), used);
  }

  std::string special(const char* name, int type) const {
    return fmt::format(R"({{"SpecialToken":{{"id":{},"type_id":{}}}}})", json_text(named(name)),
                       type);
  }
  static std::string part(char text, int type) {
    return fmt::format(R"({{"Sequence":{{"id":"{}","type_id":{}}}}})", text, type);
  }
  std::string templated(const std::string& single, const std::string& pair,
                        const std::vector<const char*>& used) const {
    std::string tokens;
    for (const char* name : used)
      tokens += fmt::format(R"({0}{1}:{{"id":{1},"ids":[{2}],"tokens":[{1}]}})",
                            tokens.empty() ? "" : ",", json_text(named(name)), id(name));
    return fmt::format(
        R"({{"type":"TemplateProcessing","single":[{}],"pair":[{}],"special_tokens":{{{}}}}})",
        single, pair, tokens);
  }

  const std::string& folder_;
  const TokenizerKind& kind_;
  TokenizerSettings settings_;
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
