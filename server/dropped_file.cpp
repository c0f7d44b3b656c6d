#include "server/dropped_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "headwater/core/fail.h"
#include "headwater/core/output_file.h"

namespace headwater::server {
namespace {

namespace fs = std::filesystem;

// ".npz" of "bert.npz"; "" if it is anything but a few letters.
std::string ending_of(const std::string& name) {
  const size_t dot = name.find_last_of('.');
  if (dot == std::string::npos) return "";
  const std::string ending = name.substr(dot);
  const bool plain =
      ending.size() <= 16 && std::all_of(ending.begin() + 1, ending.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      });
  return plain ? ending : "";
}

}  // namespace

DroppedFile::DroppedFile(const Upload& upload) : name_(upload.name) {
  std::error_code none;
  fs::path place = fs::temp_directory_path(none);
  if (none) place = ".";
  folder_ = (place / "headwater-XXXXXX").string();
  if (mkdtemp(folder_.data()) == nullptr)
    fail("{}: could not be created, expected a folder for a file; set TMPDIR to another place",
         folder_);
  path_ = folder_ + "/dropped" + ending_of(name_);
  try {
    OutputFile file(path_);
    file.write(upload.bytes);
    file.commit();
  } catch (...) {
    fs::remove_all(folder_, none);
    throw;
  }
}

DroppedFile::~DroppedFile() {
  std::error_code none;
  fs::remove_all(folder_, none);
}

std::string renamed(std::string sentence, const std::string& path, const std::string& name) {
  for (size_t at = 0; (at = sentence.find(path, at)) != std::string::npos; at += name.size())
    sentence.replace(at, path.size(), name);
  return sentence;
}

std::string DroppedFile::in_its_words(std::string sentence) const {
  return renamed(std::move(sentence), path_, name_);
}

}  // namespace headwater::server
