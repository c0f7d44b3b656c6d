// Files that NumPy, safetensors and PyTorch wrote (saved/save.py), not our own builders.
#include <gtest/gtest.h>

#include "headwater/open.h"
#include "tests/support/attention.h"
#include "tests/support/test_data.h"

namespace headwater::test {
namespace {

// All weight of row i in layer l, head h is on column (i + l + 2 h) mod 3.
Attention saved_attention() {
  Attention attention{2, 1, 2, 3, std::vector<double>(36, 0.0)};
  for (int l = 0; l < 2; ++l)
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 3; ++i) attention.at(l, 0, h, i, (i + l + 2 * h) % 3) = 1;
  return attention;
}

TEST(SavedFiles, OfTheLibrariesThatPeopleUseAreRead) {
  const std::string folder = test_data("source/saved/");
  const std::vector<std::string> tokens = {"[CLS]", "caf\xc3\xa9", "\xe6\xb0\xb4"};
  for (const char* name : {"numpy.npy", "fortran.npy", "stored.npz", "compressed.npz",
                           "numpy.safetensors", "torch_bf16.safetensors", "python.json"}) {
    SCOPED_TRACE(name);
    const auto batch = open_batch(folder + name);
    for (Fuse fuse : {Fuse::mean, Fuse::one(0), Fuse::one(1)})
      expect_maps(*batch, saved_attention(), fuse);
    if (!std::string_view(name).ends_with(".npy")) {
      EXPECT_EQ(batch->item(0)->description().tokens, tokens);
    }
  }
}

}  // namespace
}  // namespace headwater::test
