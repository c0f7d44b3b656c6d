#include "headwater/model/tokenizer/bpe.h"

#include <algorithm>
#include <queue>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/characters.h"

namespace headwater {

namespace dom = simdjson::dom;

namespace {

struct Waiting {
  uint32_t rank;
  int id;
  int at;
  // The queue pops the greatest: the earliest merge, then the leftmost.
  bool operator<(const Waiting& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

}  // namespace

Bpe::Bpe(JsonPart& part, const Unknown& unknown)
    : what_(part.what()),
      vocabulary_(read_vocabulary(part)),
      prefix_(part.text_or("continuing_subword_prefix", "")),
      suffix_(part.text_or("end_of_word_suffix", "")),
      has_unknown_(unknown || part.has("unk_token")),
      fuse_unknown_(part.flag_or("fuse_unk", false)),
      byte_fallback_(part.flag_or("byte_fallback", false)),
      ignore_merges_(part.flag_or("ignore_merges", false)),
      unknown_(unknown ? *unknown : part.text_or("unk_token", "")),
      byte_ids_(byte_tokens(vocabulary_)) {
  if (part.has("dropout")) {
    double dropout = 0;
    if (part.element("dropout").get(dropout) || dropout != 0)
      fail("{}: has a \"dropout\", which makes tokens random, expected null; set it to null",
           what_);
  }
  part.pass_over("dropout");
  part.pass_over("unk_token");
  read_merges(part.list("merges"));
  for (size_t c = 0; c < low_ids_.size(); ++c) {
    std::string character;
    append_utf8(character, static_cast<char32_t>(c));
    low_ids_[c] = vocabulary_.id_of(character).value_or(-1);
  }
}

Bpe::Pair Bpe::read_pair(const dom::element& entry) const {
  Pair out;
  std::string_view line;
  dom::array pair;
  if (!entry.get(line)) {
    const size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos)
      fail("{}: \"merges\" has '{}', expected two tokens and a space between; check the file",
           what_, line);
    out = {line.substr(0, space), line.substr(space + 1)};
  } else if (entry.get(pair) || pair.size() != 2 || pair.at(0).get(out.left) ||
             pair.at(1).get(out.right)) {
    fail(
        "{}: \"merges\" has an entry that is not a pair of tokens, expected [\"a\", \"b\"] or \"a "
        "b\"; check the file",
        what_);
  }
  if (out.right.size() < prefix_.size())
    fail("{}: \"merges\" has '{}', expected it to start with '{}'; check the file", what_,
         out.right, prefix_);
  return out;
}

void Bpe::add_merges(std::span<const Pair> pairs, uint32_t first_rank) {
  std::string made;
  size_t size = 0;
  for (const Pair& pair : pairs) size += pair.left.size() + pair.right.size();
  made.reserve(size);
  std::vector<std::string_view> tokens;
  for (const Pair& pair : pairs) {
    const size_t begin = made.size();
    made += pair.left;
    made += pair.right.substr(prefix_.size());
    tokens.insert(tokens.end(), {pair.left, pair.right, std::string_view(made).substr(begin)});
  }
  std::vector<int> ids(tokens.size());
  vocabulary_.ids_of(tokens, ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0)
      fail(
          "{}: \"merges\" has the token '{}', which is not in \"vocab\", expected it there; "
          "check the file",
          what_, tokens[i]);
  }
  for (size_t i = 0; i < ids.size(); i += 3) merges_.prefetch(ids[i], ids[i + 1]);
  for (size_t i = 0; i < ids.size(); i += 3)
    merges_.add(ids[i], ids[i + 1], {first_rank + static_cast<uint32_t>(i / 3), ids[i + 2]});
}

void Bpe::read_merges(const dom::array& merges) {
  constexpr size_t together = 256;
  // size() saturates at 2^24.
  size_t count = 0;
  for ([[maybe_unused]] const dom::element one : merges) ++count;
  merges_.reserve(count);
  uint32_t rank = 0;
  std::vector<Pair> pairs;
  const auto flush = [&] {
    add_merges(pairs, rank);
    rank += static_cast<uint32_t>(pairs.size());
    pairs.clear();
  };
  for (const dom::element entry : merges) {
    std::string_view line;
    if (!entry.get(line) && line.starts_with("#version")) continue;
    pairs.push_back(read_pair(entry));
    if (pairs.size() == together) flush();
  }
  flush();
}

std::string Bpe::decorated(std::string_view character, bool first, bool last) const {
  std::string out;
  if (!first) out += prefix_;
  out += character;
  if (last) out += suffix_;
  return out;
}

int Bpe::character_id(std::string_view character, bool first, bool last) const {
  if ((first || prefix_.empty()) && (!last || suffix_.empty())) {
    const char32_t code = character_at(character, 0).code;
    if (code < low_ids_.size()) return low_ids_[code];
    return vocabulary_.id_of(character).value_or(-1);
  }
  return vocabulary_.id_of(decorated(character, first, last)).value_or(-1);
}

bool Bpe::add_bytes(std::vector<Symbol>& word, std::string_view character, bool first,
                    bool last) const {
  const std::string bytes = decorated(character, first, last);
  const auto id = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
  if (std::any_of(bytes.begin(), bytes.end(), [&](char c) { return id(c) < 0; })) return false;
  for (const char c : bytes) word.push_back({id(c), 0, 0, 1});
  return true;
}

std::vector<Bpe::Symbol> Bpe::characters_of(std::string_view piece) const {
  std::vector<Symbol> word;
  word.reserve(piece.size());
  size_t unknown = 0;  // bytes without a token that are not in the word yet
  const auto flush = [&] {
    if (unknown == 0) return;
    const auto id = vocabulary_.id_of(unknown_);
    if (!id)
      fail(
          "{}: has no token for a part of '{}', and \"unk_token\" '{}' is not in its vocabulary, "
          "expected it there; check the file",
          what_, piece, unknown_);
    word.push_back({*id, 0, 0, unknown});
    unknown = 0;
  };
  for (size_t at = 0; at < piece.size();) {
    const auto length = static_cast<size_t>(length_of(piece[at]));
    const std::string_view character = piece.substr(at, length);
    const bool first = at == 0, last = at + length == piece.size();
    at += length;
    if (const int id = character_id(character, first, last); id >= 0) {
      flush();
      word.push_back({id, 0, 0, length});
      continue;
    }
    // Bytes do not end an unknown part: it comes after them, as in the package.
    if (byte_fallback_ && add_bytes(word, character, first, last)) continue;
    if (!has_unknown_) continue;
    if (!fuse_unknown_) flush();
    unknown += length;
  }
  flush();
  const int count = static_cast<int>(word.size());
  for (int i = 0; i < count; ++i) {
    word[static_cast<size_t>(i)].previous = i - 1;
    word[static_cast<size_t>(i)].next = i + 1 < count ? i + 1 : -1;
  }
  return word;
}

void Bpe::merge(std::vector<Symbol>& word) const {
  const auto symbol = [&](int i) -> Symbol& { return word[static_cast<size_t>(i)]; };
  std::vector<Waiting> first;
  for (int i = 0; i + 1 < static_cast<int>(word.size()); ++i) {
    if (const Merge* merge = merges_.find(symbol(i).id, symbol(i + 1).id))
      first.push_back({merge->rank, merge->id, i});
  }
  std::priority_queue<Waiting> queue({}, std::move(first));
  const auto wait = [&](int at, int next) {
    if (const Merge* merge = merges_.find(symbol(at).id, symbol(next).id))
      queue.push({merge->rank, merge->id, at});
  };
  while (!queue.empty()) {
    const Waiting top = queue.top();
    queue.pop();
    Symbol& left = symbol(top.at);
    if (left.length == 0 || left.next < 0) continue;
    Symbol& right = symbol(left.next);
    // Another merge may have used one of the two already.
    const Merge* merge = merges_.find(left.id, right.id);
    if (merge == nullptr || merge->id != top.id) continue;
    left.id = top.id;
    left.length += right.length;
    left.next = right.next;
    right.length = 0;
    if (left.next >= 0) symbol(left.next).previous = top.at;
    if (left.previous >= 0) wait(left.previous, top.at);
    if (left.next >= 0) wait(top.at, left.next);
  }
}

std::vector<PieceToken> Bpe::tokenise(std::string_view piece) const {
  if (piece.size() >= 1u << 31)
    fail("{}: a piece of text is {} bytes long, expected fewer than 2^31; split the text", what_,
         piece.size());
  if (ignore_merges_) {
    if (const auto id = vocabulary_.id_of(piece))
      return {{*id, std::string(piece), 0, piece.size()}};
  }
  std::vector<Symbol> word = characters_of(piece);
  merge(word);
  std::vector<PieceToken> out;
  size_t at = 0;
  for (const Symbol& symbol : word) {
    if (symbol.length == 0) continue;
    out.push_back(
        {symbol.id, std::string(*vocabulary_.token_of(symbol.id)), at, at + symbol.length});
    at += symbol.length;
  }
  return out;
}

std::unique_ptr<WordModel> read_bpe(JsonPart& part, const Unknown& unknown) {
  return std::make_unique<Bpe>(part, unknown);
}

}  // namespace headwater
