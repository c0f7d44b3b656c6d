// Fontconfig, Pango and Cairo keep their caches until the process ends, which LeakSanitizer, where
// the tests are built with it, takes for leaks.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\nleak:libcairo\nleak:libpango\nleak:libglib\n";
}
