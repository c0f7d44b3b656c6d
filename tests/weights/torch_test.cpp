// Every file of hostile/ is read or refused as hostile/expected.txt says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "headwater/source/torch_file.h"
#include "tests/support/hostile_folder.h"

namespace headwater::test {
namespace {

/// The tensors of a file, with the sum of all their bytes.
std::string contents(const std::string& path) {
  const Arrays arrays = read_torch(path);
  std::string text;
  unsigned sum = 0;
  for (const Tensor& tensor : arrays.layers) {
    for (const std::byte byte : tensor.bytes) sum += static_cast<unsigned>(byte);
    if (arrays.layers.size() < 5)
      text +=
          fmt::format("{} {} {}, ", tensor.name, name_of(tensor.type), shape_text(tensor.shape));
  }
  return fmt::format("{}{} tensor(s), bytes of {} in all", text, arrays.layers.size(), sum);
}

TEST(HostileWeights, AreRefusedOrReadAsRecorded) {
  expect_outcomes("weights/hostile", "expected.txt", contents);
}

TEST(HostileWeights, AreEachNamedInTheReadme) { expect_named_in_readme("weights/hostile"); }

}  // namespace
}  // namespace headwater::test
