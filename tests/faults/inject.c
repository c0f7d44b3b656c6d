// Preloaded into the command: from the start of main on, the FAULT_AT-th call of FAULT_CALL fails with FAULT_ERRNO,
// or, with FAULT_LASTING, that call and all after it. FAULT_ERRNO=short halves what read and write take instead.
// With FAULT_FROM it begins only when a path is opened that starts with that. With FAULT_NO_TMPFILE the file system has
// no files without a name.
// At the end the number of calls of each kind goes to the file FAULT_COUNT, so that a harness knows how far it can go.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

enum Call { MALLOC, OPEN, READ, WRITE, RENAME, LINKAT, FSYNC, MMAP, PTHREAD_CREATE, CALLS };
static const char* const names[CALLS] = {"malloc", "open",  "read", "write",         "rename",
                                         "linkat", "fsync", "mmap", "pthread_create"};
static atomic_long calls[CALLS];
static enum Call call = CALLS;
static const char* count_file;
static const char* from;
static long at;
static int error_number, lasting, halve, no_tmpfile;
static atomic_int begun;

// Whether this call is the one that fails.
static int fails(enum Call kind) {
  if (!atomic_load(&begun)) return 0;
  const long k = 1 + atomic_fetch_add(&calls[kind], 1);
  if (kind != call || at == 0 || (lasting ? k < at : k != at)) return 0;
  if (!halve) errno = error_number;
  return 1;
}

static void count_at_end(void) {
  atomic_store(&begun, 0);
  if (!count_file) return;
  const int file = open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) return;
  for (int kind = 0; kind < CALLS; ++kind) dprintf(file, "%s %ld\n", names[kind], atomic_load(&calls[kind]));
  close(file);
}

static int (*real_main)(int, char**, char**);

static int counted_main(int count, char** words, char** environment) {
  const char* text;
  if ((text = getenv("FAULT_CALL")))
    for (call = 0; call < CALLS && strcmp(names[call], text) != 0;) ++call;
  if ((text = getenv("FAULT_AT"))) at = atol(text);
  if ((text = getenv("FAULT_ERRNO"))) {
    halve = strcmp(text, "short") == 0;
    error_number = atoi(text);
  }
  lasting = getenv("FAULT_LASTING") != NULL;
  no_tmpfile = getenv("FAULT_NO_TMPFILE") != NULL;
  count_file = getenv("FAULT_COUNT");
  from = getenv("FAULT_FROM");
  atexit(count_at_end);
  atomic_store(&begun, from == NULL);
  return real_main(count, words, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(counted_main, count, words, init, fini, loader_fini, stack_end);
}

void* malloc(size_t size) { return fails(MALLOC) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails(MALLOC) ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails(MALLOC) ? NULL : __libc_realloc(old, size); }
void* memalign(size_t to, size_t size) { return fails(MALLOC) ? NULL : __libc_memalign(to, size); }
void* aligned_alloc(size_t to, size_t size) { return fails(MALLOC) ? NULL : __libc_memalign(to, size); }
int posix_memalign(void** out, size_t to, size_t size) {
  void* const found = fails(MALLOC) ? NULL : __libc_memalign(to, size);
  if (!found) return ENOMEM;
  *out = found;
  return 0;
}

#define REAL(name) \
  static __typeof__(name)* real; \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name)

static void opens(const char* path) {
  if (from && strncmp(path, from, strlen(from)) == 0) atomic_store(&begun, 1);
}

static int refused(int flags) {
  if (!no_tmpfile || (flags & __O_TMPFILE) == 0) return 0;
  errno = EOPNOTSUPP;
  return 1;
}

// open takes a mode only where it makes a file.
#define OPEN_MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

int open(const char* path, int flags, ...) {
  REAL(open);
  OPEN_MODE(flags)
  opens(path);
  return refused(flags) || fails(OPEN) ? -1 : real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  REAL(open64);
  OPEN_MODE(flags)
  opens(path);
  return refused(flags) || fails(OPEN) ? -1 : real(path, flags, mode);
}
// Pipes and events never fail, whatever happens to the disk; and a sentence needs standard error.
static int is_file(int file) {
  struct stat about;
  return fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}
ssize_t read(int file, void* to, size_t size) {
  REAL(read);
  if (!is_file(file) || !fails(READ)) return real(file, to, size);
  return halve ? real(file, to, size > 1 ? size / 2 : size) : -1;
}
ssize_t write(int file, const void* from, size_t size) {
  REAL(write);
  if ((file != STDOUT_FILENO && !is_file(file)) || !fails(WRITE)) return real(file, from, size);
  return halve ? real(file, from, size > 1 ? size / 2 : size) : -1;
}
int rename(const char* from, const char* to) {
  REAL(rename);
  return fails(RENAME) ? -1 : real(from, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  REAL(linkat);
  return fails(LINKAT) ? -1 : real(from_folder, from, to_folder, to, flags);
}
int fsync(int file) {
  REAL(fsync);
  return fails(FSYNC) ? -1 : real(file);
}
void* mmap(void* where, size_t size, int protection, int flags, int file, off_t offset) {
  REAL(mmap);
  return fails(MMAP) ? MAP_FAILED : real(where, size, protection, flags, file, offset);
}
void* mmap64(void* where, size_t size, int protection, int flags, int file, off64_t offset) {
  REAL(mmap64);
  return fails(MMAP) ? MAP_FAILED : real(where, size, protection, flags, file, offset);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  REAL(pthread_create);
  return fails(PTHREAD_CREATE) ? error_number : real(thread, attributes, run, argument);
}
