// Parse, run, print one error.
#include <fcntl.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "cli/deliver.h"
#include "cli/parse.h"
#include "cli/signals.h"
#include "cli/spelling.h"
#include "headwater/core/error.h"

namespace {

// Where a standard stream is closed, the next file to be opened would take its number and get our
// messages. So each closed stream is opened on /dev/null in the wrong direction: using it fails
// as before.
void keep_closed_what_is_closed() {
  for (const int standard : {0, 1, 2})
    if (fcntl(standard, F_GETFD) < 0 &&
        open("/dev/null", standard == 0 ? O_WRONLY : O_RDONLY) != standard)
      return;  // nothing to open: files may still come out in its place
}

int say(const std::string& what, int status) {
  std::fprintf(stderr, "headwater: %s\n", headwater::cli::spelled_for_terminal(what).c_str());
  return status;
}

int run(int count, char** words) {
  try {
    const headwater::cli::Request request = headwater::cli::parse(count, words);
    if (request.command)
      request.command->run();
    else
      headwater::cli::print(request.text);
    return 0;
  } catch (const headwater::Error& error) {
    return say(error.what(), error.kind() == headwater::Error::Kind::usage ? 2 : 1);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return say(error.what(), 1);
  }
}

}  // namespace

int main(int count, char** words) {
  keep_closed_what_is_closed();
  headwater::cli::handle_signals();
  try {
    return run(count, words);
  } catch (const std::bad_alloc&) {  // also when the message itself needs memory
    headwater::cli::explain_lack_of_memory();
    return 1;
  }
}
