// Fontconfig, Pango and Cairo keep their caches until the process ends, which LeakSanitizer, where
// the tests are built with it, takes for leaks.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is LeakSanitizer's.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\nleak:libcairo\nleak:libpango\nleak:libglib\n";
}
