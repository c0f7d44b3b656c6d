// The scripts and the styles of a page, built from viewer/ and compiled in.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// One file of viewer/built, and the SHA-256 of its bytes in base64.
struct BuiltFile {
  std::string_view text;
  std::string hash;
};

/// core.js is in every page, and the parts that its results need: see page_scripts(). loader.js
/// unpacks them, and is the only script that a page holds unpacked. server.js contains everything,
/// for the page of a server.
BuiltFile built_file(std::string_view name);

}  // namespace headwater
