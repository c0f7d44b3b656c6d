#include "headwater/source/file_kind.h"

#include <gtest/gtest.h>

namespace headwater {
namespace {

using namespace std::string_view_literals;

std::string_view name_of(std::string_view bytes) {
  const std::optional<FileKind> kind = kind_of(bytes);
  return kind ? kind->name : "";
}

TEST(FileKind, IsKnownByTheFirstBytes) {
  EXPECT_EQ(name_of("\x93NUMPY\x01\x00"sv), "a NumPy array");
  EXPECT_EQ(name_of("PK\x03\x04 archive/data.pkl"sv), "a PyTorch pickle");
  EXPECT_EQ(name_of("PK\x03\x04 layer_0.npy"sv), "a NumPy archive");
  EXPECT_EQ(name_of("PK\x03\x04 word/document.xml"sv), "a zip archive");
  EXPECT_EQ(name_of("\x02\0\0\0\0\0\0\0{\""sv), "a file of safetensors");
  EXPECT_EQ(name_of("GGUF\x03"sv), "a model for llama.cpp (GGUF)");
  EXPECT_EQ(name_of("version https://git-lfs.github.com/spec/v1"sv),
            "a Git LFS pointer, not the file itself");
  for (const std::string_view unknown : {""sv, "P"sv, "{\"tokens\": []}"sv, "1,2,3\n"sv})
    EXPECT_EQ(name_of(unknown), "") << unknown;
}

}  // namespace
}  // namespace headwater
