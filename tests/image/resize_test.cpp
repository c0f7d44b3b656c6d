// Resizing, checked by hand. tests/python/test_image_processing.py compares all filters with
// Pillow.
#include "headwater/model/image/resize.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "headwater/core/threads.h"

namespace headwater {
namespace {

Image grey(int width, int height, const std::vector<int>& values) {
  Image out(width, height);
  for (size_t k = 0; k < out.bytes.size(); ++k) out.bytes[k] = static_cast<uint8_t>(values[k / 3]);
  return out;
}

std::vector<int> reds(const Image& image) {
  std::vector<int> out;
  for (size_t k = 0; k < image.bytes.size(); k += 3) out.push_back(image.bytes[k]);
  return out;
}

TEST(Resize, TakesMeansWithABox) {
  const Image image = grey(4, 2, {0, 10, 100, 200, 20, 31, 100, 255});
  EXPECT_EQ(reds(resize(image, 2, 2, Resample::box)), (std::vector<int>{5, 150, 26, 178}));
  // 15 and 163.75, rounded after each of the two ways.
  EXPECT_EQ(reds(resize(image, 2, 1, Resample::box)), (std::vector<int>{16, 164}));
}

TEST(Resize, GoesInStraightLinesBetweenPixelsWhenLinear) {
  EXPECT_EQ(reds(resize(grey(2, 1, {0, 100}), 4, 1, Resample::bilinear)),
            (std::vector<int>{0, 25, 75, 100}));
  EXPECT_EQ(reds(resize(grey(1, 2, {0, 100}), 1, 4, Resample::bilinear)),
            (std::vector<int>{0, 25, 75, 100}));
}

TEST(Resize, TakesThePixelUnderTheMiddleWhenNearest) {
  EXPECT_EQ(reds(resize(grey(4, 1, {1, 2, 3, 4}), 2, 1, Resample::nearest)),
            (std::vector<int>{2, 4}));
  EXPECT_EQ(reds(resize(grey(2, 1, {1, 2}), 5, 1, Resample::nearest)),
            (std::vector<int>{1, 1, 2, 2, 2}));
}

TEST(Resize, OvershootsAtEdgesAndIsCutAtTheEndsOfTheRange) {
  const std::vector<int> out = reds(resize(grey(4, 1, {0, 0, 255, 255}), 8, 1, Resample::bicubic));
  EXPECT_EQ(out.front(), 0);
  EXPECT_EQ(out.back(), 255);
  const std::vector<int> soft =
      reds(resize(grey(4, 1, {50, 50, 200, 200}), 8, 1, Resample::bicubic));
  EXPECT_LT(soft[2], 50);
  EXPECT_GT(soft[5], 200);
}

RC_GTEST_PROP(Resize, KeepsOneColourAndGivesTheSameBytesOnAnyNumberOfThreads, ()) {
  const auto side = [] { return *rc::gen::inRange(1, 90); };
  const Resample filter = static_cast<Resample>(*rc::gen::inRange(0, 6));
  const int value = *rc::gen::inRange(0, 256);
  const int width = side(), height = side();
  const Image plain =
      resize(grey(width, height, std::vector<int>(10000, value)), side(), side(), filter);
  for (const int red : reds(plain)) RC_ASSERT(std::abs(red - value) <= 1);
  Image noisy(width, height);
  for (uint8_t& byte : noisy.bytes) byte = static_cast<uint8_t>(*rc::gen::inRange(0, 256));
  const int to_width = side(), to_height = side(), before = threads();
  set_threads(1);
  const Image alone = resize(noisy, to_width, to_height, filter);
  set_threads(4);
  const Image together = resize(noisy, to_width, to_height, filter);
  set_threads(before);
  RC_ASSERT(alone == together);
}

TEST(CentreCrop, TakesTheMiddleAndRoundsTowardsTheBeginning) {
  const Image image = grey(4, 1, {1, 2, 3, 4});
  EXPECT_EQ(reds(centre_crop(image, 2, 1)), (std::vector<int>{2, 3}));
  EXPECT_EQ(reds(centre_crop(image, 3, 1)), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(reds(centre_crop(image, 1, 1)), (std::vector<int>{2}));
}

TEST(CentreCrop, IsBlackWhereThereIsNoImage) {
  const Image image = grey(2, 1, {1, 2});
  EXPECT_EQ(reds(centre_crop(image, 4, 1)), (std::vector<int>{0, 1, 2, 0}));
  EXPECT_EQ(reds(centre_crop(image, 5, 1)), (std::vector<int>{0, 0, 1, 2, 0}));
  EXPECT_EQ(reds(centre_crop(image, 1, 3)), (std::vector<int>{0, 1, 0}));
}

}  // namespace
}  // namespace headwater
