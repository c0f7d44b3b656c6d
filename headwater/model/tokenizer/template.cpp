// TemplateProcessing: the text, its pair and special tokens in the order of the file.
#include <algorithm>
#include <map>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/post_processor.h"

namespace headwater {
namespace {

struct SpecialToken {
  std::vector<int> ids;
  std::vector<std::string> tokens;
};

struct Piece {
  int sequence;                 // 0: the text, 1: its pair, -1: special
  const SpecialToken* special;  // if sequence is -1
  int type;
};

class Template : public PostProcessor {
 public:
  explicit Template(JsonPart& part) : what_(part.what()) {
    read_special(part.object("special_tokens"));
    single_ = read_pieces(part.list("single"), false);
    pair_ = read_pieces(part.list("pair"), true);
  }
  size_t added(bool pair) const override {
    size_t sum = 0;
    for (const Piece& piece : pair ? pair_ : single_)
      if (piece.special != nullptr) sum += piece.special->ids.size();
    return sum;
  }
  void apply(std::vector<Encoding>& parts, const Texts&, bool special) const override {
    if (parts.empty() || parts.size() > 2)
      fail(
          "{}: follows another that made {} parts, expected the text and its pair; keep one "
          "of the two",
          what_, parts.size());
    std::vector<Encoding> out;
    const std::vector<Piece>& pieces = parts.size() == 2 ? pair_ : single_;
    for (int sequence = 0; sequence < static_cast<int>(parts.size()); ++sequence)
      if (std::ranges::find(pieces, sequence, &Piece::sequence) == pieces.end())
        fail("{}: its template for {} leaves out the {}, expected {} in it; check the file", what_,
             parts.size() == 2 ? "pairs" : "single texts",
             sequence == 0 ? "text" : "pair's second text",
             parts.size() == 2 ? "both texts" : "the text");
    for (const Piece& piece : pieces) {
      if (piece.special == nullptr) {
        out.push_back(parts[static_cast<size_t>(piece.sequence)]);
        std::fill(out.back().types.begin(), out.back().types.end(), piece.type);
      } else if (special) {
        Encoding& tokens = out.emplace_back();
        for (size_t i = 0; i < piece.special->ids.size(); ++i)
          tokens.add(piece.special->ids[i], piece.special->tokens[i], {}, piece.type, -1);
      }
    }
    parts = std::move(out);
  }

 private:
  void read_special(const simdjson::dom::object& all) {
    for (const auto& [name, element] : all) {
      JsonPart part(element, fmt::format("{}: special token '{}'", what_, name));
      part.text("id");
      SpecialToken token;
      for (const simdjson::dom::element id : part.list("ids"))
        token.ids.push_back(read_id(id, part.what()));
      for (const simdjson::dom::element one : part.list("tokens")) {
        std::string_view text;
        if (one.get(text))
          fail("{}: \"tokens\" has an entry that is not a string, expected strings; check the file",
               part.what());
        token.tokens.emplace_back(text);
      }
      part.finish();
      if (token.ids.size() != token.tokens.size())
        fail("{}: has {} ids for {} tokens, expected one each; check the file", part.what(),
             token.ids.size(), token.tokens.size());
      special_[std::string(name)] = std::move(token);
    }
  }

  std::vector<Piece> read_pieces(const simdjson::dom::array& list, bool pair) {
    constexpr size_t most = 1000;
    std::vector<Piece> out;
    for (const simdjson::dom::element one : list) {
      if (out.size() == most)
        fail("{}: has more than {} pieces, expected a few; check the file", what_, most);
      JsonPart either(one, what_ + ": a piece of the template");
      const bool special = either.has("SpecialToken");
      JsonPart part = either.part(special ? "SpecialToken" : "Sequence");
      const std::string id = part.text("id");
      const int type = read_id(part.element("type_id"), part.what());
      part.finish();
      either.finish();
      if (special) {
        const auto found = special_.find(id);
        if (found == special_.end())
          fail("{}: '{}' is not among \"special_tokens\", expected it there; check the file", what_,
               id);
        out.push_back({-1, &found->second, type});
      } else if (id == "A" || (id == "B" && pair)) {
        out.push_back({id == "A" ? 0 : 1, nullptr, type});
      } else {
        fail("{}: has the sequence '{}', expected A{}; check the file", what_, id,
             pair ? " or B" : "");
      }
    }
    return out;
  }

  std::string what_;
  std::map<std::string, SpecialToken> special_;
  std::vector<Piece> single_, pair_;
};

}  // namespace

std::unique_ptr<PostProcessor> read_template(JsonPart& part) {
  return std::make_unique<Template>(part);
}

}  // namespace headwater
