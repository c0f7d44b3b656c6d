// The script and the style of a page, built from viewer/ and compiled in.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// One file of viewer/built, and the SHA-256 of its bytes in base64.
struct BuiltFile {
  std::string_view text;
  std::string hash;
};

BuiltFile page_script();
BuiltFile page_style();
/// Those of a server's page, which holds the same views and a form to ask with.
BuiltFile page_server_script();
BuiltFile page_server_style();
/// Unpacks the script; the only one that a page holds as it is.
BuiltFile page_loader();

}  // namespace headwater
