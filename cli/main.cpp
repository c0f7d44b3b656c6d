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

int say(const std::string& what, int status) {
  std::fprintf(stderr, "headwater: %s\n", printable(what).c_str());
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
