#include "headwater/kernel/cuda/cache.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "headwater/core/error.h"
#include "headwater/core/fail.h"
#include "headwater/core/output_file.h"

namespace headwater::kernel::cuda {
namespace {

namespace fs = std::filesystem;

uint64_t fnv1a(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::optional<fs::path> folder() {
  const auto set = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
  };
  if (const char* own = set("HEADWATER_CACHE")) return fs::path(own);
  if (const char* xdg = set("XDG_CACHE_HOME")) return fs::path(xdg) / "headwater";
  if (const char* home = set("HOME")) return fs::path(home) / ".cache" / "headwater";
  return std::nullopt;
}

// A file is the key, the hash of the code and the code. The lengths must match the file, so a
// truncated file is noticed.
std::string head_of(const std::string& key, const std::string& code) {
  return fmt::format("headwater kernel {} {} {:016x}\n{}\n", key.size(), code.size(), fnv1a(code),
                     key);
}

std::optional<std::string> read(const fs::path& path, const std::string& key) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  // The head's length is only known with the code, so the code is cut by what the first line says.
  const size_t line = bytes.find('\n');
  if (line == std::string::npos || line + key.size() + 2 > bytes.size()) return std::nullopt;
  const std::string code = bytes.substr(line + key.size() + 2);
  if (bytes.compare(0, bytes.size() - code.size(), head_of(key, code)) != 0) return std::nullopt;
  return code;
}

}  // namespace

std::string cached(const std::string& key, const std::function<std::string()>& make) {
  const auto place = folder();
  if (!place) return make();
  const fs::path path = *place / fmt::format("{:016x}.cubin", fnv1a(key));
  if (auto code = read(path, key)) return *code;
  const std::string code = make();
  try {
    fs::create_directories(*place);
    OutputFile file(path.string());
    file.write(head_of(key, code));
    file.write(code);
    file.commit();
  } catch (const std::exception&) {
    // The next process compiles it again.
  }
  return code;
}

}  // namespace headwater::kernel::cuda
