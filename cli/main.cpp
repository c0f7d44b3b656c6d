// Parse, run, print one error.
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "cli/parse.h"
#include "headwater/core/error.h"

namespace {

// One line, whatever a file name or a token holds.
std::string printable(std::string line) {
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  return line;
}

// The library names options by their words, `top_k`; here they are spelled as they are typed.
std::string in_words_of_the_command(const std::string& sentence) {
  std::string out;
  for (size_t at = 0; at < sentence.size();) {
    const size_t end = sentence[at] == '`' ? sentence.find('`', at + 1) : std::string::npos;
    const std::string word = end == std::string::npos ? "" : sentence.substr(at + 1, end - at - 1);
    if (word.empty() ||
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos) {
      out += sentence[at++];
      continue;
    }
    out += "--";
    for (const char c : word) out += c == '_' ? '-' : c;
    at = end + 1;
  }
  return out;
}

int say(const std::string& what, int status) {
  std::fprintf(stderr, "headwater: %s\n", printable(in_words_of_the_command(what)).c_str());
  return status;
}

}  // namespace

int main(int count, char** words) {
  try {
    const headwater::cli::Request request = headwater::cli::parse(count, words);
    if (request.run)
      request.run(request.arguments);
    else
      std::fputs(request.text.c_str(), stdout);
    return 0;
  } catch (const headwater::Error& error) {
    return say(error.what(), error.kind() == headwater::Error::Kind::usage ? 2 : 1);
  } catch (const std::bad_alloc&) {
    return say("out of memory, expected room for a few n x n matrices; ask for one --row", 1);
  } catch (const std::exception& error) {
    return say(error.what(), 1);
  }
}
