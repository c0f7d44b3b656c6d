// Unigram: of all ways to split a piece into tokens, takes the one with the best sum of scores.
#include <algorithm>
#include <limits>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/prefix_index.h"
#include "headwater/model/tokenizer/score.h"
#include "headwater/model/tokenizer/vocabulary.h"
#include "headwater/model/tokenizer/word_model.h"

namespace headwater {

namespace dom = simdjson::dom;

namespace {

class Unigram : public WordModel {
 public:
  Unigram(JsonPart& part, const simdjson::padded_string& file, const Unknown& unknown)
      : what_(part.what()), byte_fallback_(part.flag_or("byte_fallback", false)) {
    read_tokens(part.list("vocab"), file);
    if (unknown) {
      unknown_ = vocabulary_.id_of(*unknown).value_or(0);
    } else if (part.has("unk_id")) {
      const uint64_t id = part.count("unk_id");
      if (id >= tokens_.size())
        fail("{}: \"unk_id\" is {}, expected one of its {} tokens; check the file", what_, id,
             tokens_.size());
      unknown_ = static_cast<int>(id);
    }
    part.pass_over("unk_id");
    byte_ids_ = byte_tokens(vocabulary_);
  }

  std::vector<PieceToken> tokenise(std::string_view piece) const override {
    std::vector<PieceToken> out;
    for (const ByteSpan& span : fused(piece, best_path(piece))) {
      const std::string_view text = piece.substr(span.begin, span.end - span.begin);
      const auto id = vocabulary_.id_of(text);
      if (!id && byte_fallback_ && add_bytes(out, text, span)) continue;
      if (!id && unknown_ < 0) fail_unknown(text);
      out.push_back({id.value_or(unknown_), std::string(text), span.begin, span.end});
    }
    return out;
  }

  std::optional<int> id_of(std::string_view token) const override {
    return vocabulary_.id_of(token);
  }
  std::optional<std::string_view> token_of(int id) const override {
    if (id < 0 || static_cast<size_t>(id) >= tokens_.size()) return {};
    return tokens_[static_cast<size_t>(id)];
  }
  int size() const override { return static_cast<int>(tokens_.size()); }

 private:
  struct Step {
    double score = 0;
    size_t begin = nowhere;  // of the token that ends here
    int id = 0;
  };
  struct ByteSpan {
    size_t begin, end;
    bool unknown;
  };
  static constexpr size_t nowhere = std::numeric_limits<size_t>::max();

  void read_tokens(const dom::array& list, const simdjson::padded_string& file) {
    std::vector<std::pair<std::string_view, uint32_t>> texts;
    for (const dom::element entry : list) {
      dom::array pair;
      std::string_view token;
      if (entry.get(pair) || pair.size() != 2 || pair.at(0).get(token))
        fail(
            "{}: \"vocab\" has an entry that is not [\"token\", score], expected those; check the "
            "file",
            what_);
      texts.emplace_back(token, static_cast<uint32_t>(texts.size()));
    }
    scores_ = read_scores(file, what_);
    if (scores_.size() != texts.size())
      fail("{}: \"vocab\" has {} scores for {} tokens, expected one each; check the file", what_,
           scores_.size(), texts.size());
    vocabulary_.reserve(texts.size(), 8 * texts.size());
    for (const auto& [token, id] : texts) {
      vocabulary_.add(token, static_cast<int>(id));
      tokens_.emplace_back(token);
      lowest_ = std::min(lowest_, scores_[id]);
    }
    vocabulary_.finish();
    index_ = PrefixIndex(std::move(texts));
  }

  [[noreturn]] void fail_unknown(std::string_view text) const {
    fail("{}: has no token for '{}' and no \"unk_id\", expected one of them; check the file", what_,
         text);
  }

  std::vector<Step> best_path(std::string_view piece) const {
    constexpr double unknown_penalty = 10;
    std::vector<Step> steps(piece.size() + 1);
    for (size_t at = 0; at < piece.size();) {
      const double so_far = steps[at].score;
      const auto length = static_cast<size_t>(length_of(piece[at]));
      const auto offer = [&](size_t end, double score, int id) {
        Step& step = steps[end];
        if (step.begin == nowhere || score > step.score) step = {score, at, id};
      };
      bool single = false;
      index_.walk(piece, at, [&](size_t bytes, uint32_t id) {
        offer(at + bytes, scores_[id] + so_far, static_cast<int>(id));
        single = single || bytes == length;
      });
      if (!single) {
        Step& step = steps[at + length];
        const double score = lowest_ - unknown_penalty + so_far;
        if (step.begin == nowhere || score > step.score) {
          if (unknown_ < 0) fail_unknown(piece.substr(at, length));
          step = {score, at, unknown_};
        }
      }
      at += length;
    }
    return steps;
  }

  // Follows the path from its end, and joins unknown neighbours.
  std::vector<ByteSpan> fused(std::string_view piece, const std::vector<Step>& steps) const {
    std::vector<ByteSpan> spans;
    for (size_t end = piece.size(); end > 0; end = steps[end].begin) {
      const Step& step = steps[end];
      const bool unknown = unknown_ >= 0 && step.id == unknown_;
      if (unknown && !spans.empty() && spans.back().unknown)
        spans.back().begin = step.begin;
      else
        spans.push_back({step.begin, end, unknown});
    }
    std::reverse(spans.begin(), spans.end());
    return spans;
  }

  bool add_bytes(std::vector<PieceToken>& out, std::string_view text, const ByteSpan& span) const {
    const auto id = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
    if (std::any_of(text.begin(), text.end(), [&](char c) { return id(c) < 0; })) return false;
    for (const char c : text)
      out.push_back({id(c), byte_token(static_cast<unsigned char>(c)), span.begin, span.end});
    return true;
  }

  std::string what_;
  bool byte_fallback_;
  Vocabulary vocabulary_;
  std::vector<std::string> tokens_;
  std::vector<double> scores_;
  double lowest_ = std::numeric_limits<double>::infinity();
  PrefixIndex index_;
  int unknown_ = -1;
  std::vector<int> byte_ids_;
};

}  // namespace

std::unique_ptr<WordModel> read_unigram(JsonPart& part, const simdjson::padded_string& file,
                                        const Unknown& unknown) {
  return std::make_unique<Unigram>(part, file, unknown);
}

}  // namespace headwater
