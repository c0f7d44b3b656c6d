#include "headwater/source/file_kind.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace headwater {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view resave = "save the attention with numpy or safetensors";
constexpr std::string_view picture = "give it as `image` to a vision model";
constexpr std::string_view unpack = "unpack it first";

struct Magic {
  std::string_view begins;
  FileKind kind;
};

constexpr Magic magics[] = {
    {"\x93NUMPY"sv, {"a NumPy array", ".npy", "give it the ending .npy"}},
    {"\x80\x02"sv, {"a PyTorch or Python pickle", "", "save it with numpy or safetensors"}},
    {"\x80\x03"sv, {"a Python pickle", "", "save it with numpy or safetensors"}},
    {"\x80\x04"sv, {"a Python pickle", "", "save it with numpy or safetensors"}},
    {"\x80\x05"sv, {"a Python pickle", "", "save it with numpy or safetensors"}},
    {"GGUF"sv, {"a model for llama.cpp (GGUF)", "", "use the model that it was made from"}},
    {"\x89HDF\r\n"sv, {"an HDF5 file", "", resave}},
    {"PAR1"sv, {"a Parquet table", "", resave}},
    {"ARROW1"sv, {"an Arrow table", "", resave}},
    {"MATLAB"sv, {"a MATLAB file", "", resave}},
    {"\x89PNG"sv, {"a PNG image", "", picture}},
    {"\xFF\xD8\xFF"sv, {"a JPEG image", "", picture}},
    {"%PDF"sv, {"a PDF document", "", "give a file of attention"}},
    {"\x1F\x8B"sv, {"a gzip archive", "", unpack}},
    {"BZh"sv, {"a bzip2 archive", "", unpack}},
    {"\xFD"
     "7zXZ"sv,
     {"an xz archive", "", unpack}},
    {"\x28\xB5\x2F\xFD"sv, {"a zstd archive", "", unpack}},
    {"\x7F"
     "ELF"sv,
     {"a program", "", "give a file of attention"}},
    {"version https://git-lfs"sv,
     {"a Git LFS pointer, not the file itself", "", "get the file with git lfs pull"}},
    {"<!DOCTYPE html"sv, {"an HTML page", "", "give a file of attention"}},
    {"<html"sv, {"an HTML page", "", "give a file of attention"}},
};

constexpr size_t enough_bytes = 1 << 16;

// torch.save writes a zip with NAME/data.pkl first.
bool is_torch_zip(std::string_view bytes) {
  return bytes.find("/data.pkl") != bytes.npos || bytes.find("/.format_version") != bytes.npos;
}

bool is_safetensors(std::string_view bytes) {
  if (bytes.size() < 10) return false;
  uint64_t header = 0;
  for (size_t k = 8; k-- > 0;) header = header << 8 | static_cast<unsigned char>(bytes[k]);
  return header >= 2 && header < uint64_t{1} << 32 && bytes[8] == '{' && bytes[9] == '"';
}

}  // namespace

std::optional<FileKind> kind_of(std::string_view bytes) {
  // First: the length at its beginning can look like anything.
  if (is_safetensors(bytes))
    return FileKind{"a file of safetensors", ".safetensors", "give it the ending .safetensors"};
  for (const Magic& magic : magics)
    if (bytes.starts_with(magic.begins)) return magic.kind;
  if (bytes.starts_with("PK\x03\x04")) {
    if (is_torch_zip(bytes))
      return FileKind{"a PyTorch pickle", "", "save it with numpy or safetensors"};
    if (bytes.substr(0, 200).find(".npy") != bytes.npos)
      return FileKind{"a NumPy archive", ".npz", "give it the ending .npz"};
    return FileKind{"a zip archive", ".npz", unpack};
  }
  return {};
}

std::optional<FileKind> kind_of_file(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return {};  // reading a pipe would block
  std::ifstream file(path, std::ios::binary);
  std::string bytes(enough_bytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return kind_of(bytes);
}

}  // namespace headwater
