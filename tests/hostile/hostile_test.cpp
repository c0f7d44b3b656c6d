// Every file in this folder is read to its end or refused, as expected.txt and lenient.txt say.
#include <gtest/gtest.h>

#include "headwater/open.h"
#include "tests/support/hostile_folder.h"

namespace headwater::test {
namespace {

/// What a file holds once it has been read to its end: its items, and the sum of all fused weights.
std::string contents(const std::string& path, const ReadOptions& options) {
  const std::unique_ptr<Batch> batch = open_batch(path, {.read = options});
  int layers = 0, tokens = 0;
  double sum = 0;
  for (int k = 0; k < batch->size(); ++k) {
    const std::unique_ptr<Source> source = batch->item(k);
    layers = source->description().layers;
    tokens = static_cast<int>(source->description().tokens.size());
    source->layers(Fuse::mean, {0, layers}, Direction::up, [&](int, MatrixSpan layer) {
      for (int i = 0; i < layer.rows(); ++i)
        for (int j = 0; j < layer.columns(); ++j) sum += layer(i, j);
    });
  }
  return std::to_string(batch->size()) + " item(s) of " + std::to_string(layers) + " layer(s), " +
         std::to_string(tokens) + " token(s), weights of " + std::to_string(sum) + " in all";
}

TEST(HostileFiles, AreRefusedOrReadAsRecorded) {
  expect_outcomes("hostile", "expected.txt",
                  [](const std::string& path) { return contents(path, {}); });
}

TEST(HostileFiles, AreRefusedOrReadAsRecordedWhenAnyRowsAreTaken) {
  ReadOptions lenient;
  lenient.any_sums = lenient.nan_identity = true;
  expect_outcomes("hostile", "lenient.txt",
                  [&](const std::string& path) { return contents(path, lenient); });
}

TEST(HostileFiles, AreEachNamedInTheReadme) { expect_named_in_readme("hostile"); }

}  // namespace
}  // namespace headwater::test
