#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <initializer_list>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/output_file.h"

namespace headwater::cli {
namespace {

// For the handlers, which may neither allocate nor lock.
int say_to = STDERR_FILENO;
char drawn[4096];

void put(const char* text) {
  if (write(say_to, text, std::strlen(text)) < 0) return;  // nobody is left to tell
}

constexpr int crashes[] = {SIGABRT, SIGTRAP, SIGSEGV};

// Ends the process as the signal would have without us, so that a shell sees what happened.
void clean_up_and_die(int number) {
  remove_unfinished_files();
  signal(number, SIG_DFL);
  raise(number);
}

void explain_shortened_file(int number, siginfo_t* about, void*) {
  const char* file = mapped_file_at(about->si_addr);
  if (!file) return clean_up_and_die(number);
  remove_unfinished_files();
  put("headwater: ");
  put(file);
  put(": was shortened or could not be read, expected a file that stays as it is while it is read; "
      "run the command again\n");
  _exit(1);
}

void explain_crash_while_drawing(int) {
  static std::atomic_flag begun;  // a thread of the libraries may crash at the same time
  while (begun.test_and_set()) pause();
  remove_unfinished_files();
  put("headwater: ");
  put(drawn);
  put(": the libraries that draw gave up, expected memory and a thread to spare for them; free "
      "some, "
      "or write .json and draw it elsewhere\n");
  _exit(1);
}

}  // namespace

DrawingGuard::DrawingGuard(const std::string& path)
    : standard_error_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
  const std::string line = one_line(path);
  const size_t length = std::min(line.size(), sizeof drawn - 1);
  std::memcpy(drawn, line.data(), length);
  drawn[length] = 0;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (standard_error_ >= 0 && nowhere >= 0) {
    dup2(nowhere, STDERR_FILENO);
    say_to = standard_error_;
  }
  if (nowhere >= 0) close(nowhere);
  for (const int number : crashes) signal(number, explain_crash_while_drawing);
}

DrawingGuard::~DrawingGuard() {
  for (const int number : crashes) signal(number, SIG_DFL);
  if (standard_error_ < 0) return;
  dup2(standard_error_, STDERR_FILENO);
  close(standard_error_);
  say_to = STDERR_FILENO;
}

void handle_signals() {
  signal(SIGXFSZ, SIG_IGN);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (signal(number, clean_up_and_die) == SIG_IGN) signal(number, SIG_IGN);
  struct sigaction action = {};
  action.sa_sigaction = explain_shortened_file;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace headwater::cli
