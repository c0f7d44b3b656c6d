// Fontconfig, Pango and Cairo keep their caches until the process ends. LeakSanitizer, if the tests
// are built with it, would report them as leaks.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is LeakSanitizer's.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\nleak:libcairo\nleak:libpango\nleak:libglib\n";
}
