#include "cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/output_file.h"

namespace headwater::cli {
namespace {

// For the handlers, which may neither allocate nor lock.
char drawn[4096];

void put(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // nobody is left to tell
}

constexpr int crashes[] = {SIGABRT, SIGTRAP, SIGSEGV};

// GLib reports a failure with a call that fails the same way, until the stack is full.
alignas(16) char spare_stack[64 << 10];

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(number, &action, nullptr);
}

// Ends the process as the signal would have without us, so that a shell sees what happened.
void clean_up_and_die(int number) {
  remove_unfinished_files();
  signal(number, SIG_DFL);
  raise(number);
}

void explain_shortened_file(int number, siginfo_t* about, void*) {
  const char* file = mapped_file_at(about->si_addr);
  // Either more files are mapped than names are recorded here, or a library mapped it, such as a
  // font.
  if (!file && about->si_code == BUS_ADRERR) file = "one of its files";
  if (!file) return clean_up_and_die(number);
  remove_unfinished_files();
  put("headwater: ");
  put(file);
  put(": was shortened or could not be read, expected a file that does not change while it is "
      "read; run the command again\n");
  _exit(1);
}

[[noreturn]] void explain_crash_while_drawing(int) {
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

DrawingGuard::DrawingGuard(const std::string& path) : standard_error_(stderr) {
  const std::string line = one_line(path);
  const size_t length = std::min(line.size(), sizeof drawn - 1);
  std::memcpy(drawn, line.data(), length);
  drawn[length] = 0;
  // A stream without a descriptor: none may be left.
  cookie_io_functions_t drop = {};
  drop.write = [](void*, const char*, size_t size) { return static_cast<ssize_t>(size); };
  nowhere_ = fopencookie(nullptr, "w", drop);
  if (nowhere_) stderr = nowhere_;
  for (const int number : crashes) handle(number, explain_crash_while_drawing);
  try {
    watch_ = std::thread([this] { watch_memory(); });
  } catch (const std::exception&) {
    // The libraries need a thread of their own and will say that there is none.
  }
}

void DrawingGuard::watch_memory() {
  constexpr int patience = 3;
  int failures = 0;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [&] { return !drawing_; })) {
    void* const sample = std::malloc(64);
    failures = sample ? 0 : failures + 1;
    std::free(sample);
    if (failures == patience) explain_crash_while_drawing(0);
  }
}

DrawingGuard::~DrawingGuard() {
  {
    const std::lock_guard lock(mutex_);
    drawing_ = false;
  }
  ended_.notify_one();
  if (watch_.joinable()) watch_.join();
  for (const int number : crashes) signal(number, SIG_DFL);
  stderr = standard_error_;
  if (nowhere_) std::fclose(nowhere_);
}

void explain_lack_of_memory() noexcept {
  put("headwater: out of memory, expected room for a few n x n matrices; ask for a single row with "
      "--row\n");
}

namespace {

std::atomic<bool> memory_was_short = false;

[[noreturn]] void note_lack_of_memory() {
  memory_was_short = true;
  throw std::bad_alloc();
}

[[noreturn]] void end_in_a_sentence() {
  remove_unfinished_files();
  explain_lack_of_memory();
  _exit(1);
}

// A destructor, a thread or a library may need memory where nothing can be thrown.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_in_a_sentence();
  } catch (...) {
  }
  // A function that is noexcept and was inlined ends the process before its exception is caught:
  // that it was bad_alloc can only be guessed.
  if (std::uncaught_exceptions() > 0 && memory_was_short) end_in_a_sentence();
  std::abort();
}

}  // namespace

void handle_signals() {
  std::set_new_handler(note_lack_of_memory);
  std::set_terminate(end_without_memory);
  stack_t stack = {};
  stack.ss_sp = spare_stack;
  stack.ss_size = sizeof spare_stack;
  sigaltstack(&stack, nullptr);
  signal(SIGXFSZ, SIG_IGN);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (signal(number, clean_up_and_die) == SIG_IGN) signal(number, SIG_IGN);
  struct sigaction action = {};
  action.sa_sigaction = explain_shortened_file;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace headwater::cli
