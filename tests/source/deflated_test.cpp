// Many small maps in one deflated array are read fast in any order, without an index of where each
// one starts.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "headwater/core/stopwatch.h"
#include "headwater/open.h"
#include "tests/support/attention.h"
#include "tests/support/build_npy.h"
#include "tests/support/build_zip.h"

namespace headwater::test {
namespace {

TEST(DeflatedArrays, OfManySmallMapsAreReadInAnyOrder) {
  const Folder folder;
  const Attention attention = random_attention(40, 500, 2, 4, 81);
  for (const char* letters : {"LBHnn", "BLHnn"}) {
    const auto path = folder.write(
        "a.npz",
        zip({{"a.npy", npy(DType::f32, shape_of(attention, letters), laid_out(attention, letters)),
              true}}));
    ReadOptions options;
    options.axes = letters;
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const Stopwatch watch;
    const auto batch = open_batch(path, {.read = options});
    for (int item : {499, 0, 250, 1, 498}) {
      const auto source = batch->item(item);
      for (Direction direction : {Direction::down, Direction::up}) {
        const std::vector<Matrix> maps = maps_of(*source, Fuse::one(1), direction);
        for (int l = 0; l < attention.layers; ++l)
          for (int j = 0; j < 4; ++j)
            ASSERT_EQ(maps[static_cast<size_t>(l)](2, j),
                      static_cast<float>(attention.at(l, item, 1, 2, j)))
                << letters << ", item " << item << ", layer " << l;
      }
    }
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 128 << 10) << "kilobytes";
    EXPECT_LT(watch.seconds(), 10);
  }
}

}  // namespace
}  // namespace headwater::test
