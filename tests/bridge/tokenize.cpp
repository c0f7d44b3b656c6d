// Tokenizes for the Python tests: headwater_tokenize TOKENIZER.JSON
// or headwater_tokenize FOLDER FAMILY, requests on standard input,
// answers on standard output. Numbers are four bytes, little endian; a text is its length and
// bytes. Request: flags (1 a pair, 2 special tokens, 4 a limit), limit, text, pair. Answer: its
// length, then 0, the number of tokens, a list each of ids, begins, ends, types and sequences, the
// tokens joined by zero bytes, the decoded text; or 1 and the error as a text.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "headwater/core/error.h"
#include "headwater/model/tokenizer/tokenizer.h"

namespace {

bool read_number(uint32_t& number) { return std::fread(&number, sizeof number, 1, stdin) == 1; }

bool read_text(std::string& text) {
  uint32_t size = 0;
  if (!read_number(size)) return false;
  text.resize(size);
  return std::fread(text.data(), 1, size, stdin) == size;
}

void put_number(std::string& out, int64_t number) {
  const auto value = static_cast<uint32_t>(number);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& out, const std::string& text) {
  put_number(out, static_cast<int64_t>(text.size()));
  out += text;
}

std::string answer(const headwater::Tokenizer& tokenizer, uint32_t flags, uint32_t limit,
                   const std::string& text, const std::string& pair) {
  std::string out;
  try {
    std::optional<std::string_view> second;
    std::optional<size_t> most;
    if ((flags & 1) != 0) second = pair;
    if ((flags & 4) != 0) most = limit;
    const auto encoding = tokenizer.encode(text, second, (flags & 2) != 0, most);
    put_number(out, 0);
    put_number(out, static_cast<int64_t>(encoding.size()));
    for (const int id : encoding.ids) put_number(out, id);
    for (const auto& span : encoding.offsets) put_number(out, static_cast<int64_t>(span.begin));
    for (const auto& span : encoding.offsets) put_number(out, static_cast<int64_t>(span.end));
    for (const int type : encoding.types) put_number(out, type);
    for (const int sequence : encoding.sequences) put_number(out, sequence);
    std::string tokens;
    for (size_t i = 0; i < encoding.size(); ++i) {
      if (i > 0) tokens += '\0';
      tokens += encoding.tokens[i];
    }
    put_text(out, tokens);
    put_text(out, tokenizer.decode(encoding.ids));
  } catch (const headwater::Error& error) {
    out.clear();
    put_number(out, 1);
    put_text(out, error.what());
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  try {
    const auto tokenizer = argc == 2 ? headwater::Tokenizer::open(argv[1])
                                     : headwater::Tokenizer::open_folder(argv[1], argv[2]).value();
    uint32_t flags = 0, limit = 0;
    std::string text, pair;
    while (read_number(flags) && read_number(limit) && read_text(text) && read_text(pair)) {
      std::string out;
      put_text(out, answer(tokenizer, flags, limit, text, pair));
      std::fwrite(out.data(), 1, out.size(), stdout);
    }
  } catch (const headwater::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
