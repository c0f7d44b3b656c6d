// Processors by hand; tests/python/test_image_processing.py compares them with transformers.
#include "headwater/model/image/processor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

class Processor : public testing::Test {
 protected:
  Processor() { std::filesystem::create_directories(folder_); }
  ~Processor() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  ImageProcessor open(const std::string& text) const {
    put("preprocessor_config.json", text);
    return ImageProcessor::open(folder_);
  }
  void refused(const std::string& text, std::vector<std::string> parts) const {
    parts.push_back(folder_);
    expect_error(Error::Kind::work, parts, [&] { open(text); });
  }

  std::string folder_ = testing::TempDir() + "headwater_processor_" + std::to_string(getpid());
};

TEST_F(Processor, HasTheDefaultsOfItsKind) {
  const ProcessorConfig vit = open(R"({"image_processor_type": "ViTImageProcessor"})").config();
  EXPECT_EQ(vit.size.height, 224);
  EXPECT_EQ(vit.resample, Resample::bilinear);
  EXPECT_FALSE(vit.do_center_crop);
  const ProcessorConfig deit =
      open(R"({"feature_extractor_type": "DeiTFeatureExtractor", "crop_size": null})").config();
  EXPECT_EQ(deit.size.width, 256);
  EXPECT_EQ(deit.crop_width, 224);
  EXPECT_TRUE(deit.do_center_crop);
  const ProcessorConfig bit = open(R"({"image_processor_type": "BitImageProcessorFast"})").config();
  EXPECT_EQ(bit.size.shortest_edge, 224);
  EXPECT_EQ(bit.resample, Resample::bicubic);
}

TEST_F(Processor, RescalesAndNormalisesEachColour) {
  Image image(1, 1);
  image.bytes = {255, 51, 0};
  const Pixels pixels = open(R"({"image_processor_type": "ViTImageProcessor", "size": 1,
                                 "image_mean": [0.5, 0.2, 0], "image_std": [0.5, 1, 2]})")
                            .apply(image);
  EXPECT_FLOAT_EQ(pixels.row(0, 0)[0], 1);
  EXPECT_NEAR(pixels.row(1, 0)[0], 0, 1e-7);
  EXPECT_FLOAT_EQ(pixels.row(2, 0)[0], 0);
}

TEST_F(Processor, KnowsWhatOfTheImageIsSeen) {
  const std::string config = R"({"image_processor_type": "BitImageProcessor", "crop_size": 50,
                                 "size": {"shortest_edge": 100}})";
  const Pixels pixels = open(config).apply(Image(300, 200));  // becomes 150 x 100
  EXPECT_EQ(pixels.width, 50);
  EXPECT_EQ(pixels.height, 50);
  EXPECT_DOUBLE_EQ(pixels.seen.x, 100);
  EXPECT_DOUBLE_EQ(pixels.seen.y, 50);
  EXPECT_DOUBLE_EQ(pixels.seen.width, 100);
  EXPECT_DOUBLE_EQ(pixels.seen.height, 100);
}

TEST_F(Processor, RefusesWhatItDoesNotDo) {
  const std::string vit = R"({"image_processor_type": "ViTImageProcessor", )";
  refused(vit + R"("do_pad": true})", {"do_pad = true", "not implemented"});
  refused(vit + R"("size": {"longest_edge": 9}})", {"size is {\"longest_edge\":9}"});
  refused(vit + R"("size": 100000})", {"size is 100000", "16384"});
  refused(vit + R"("resample": 9})", {"resample is 9"});
  refused(R"({"image_processor_type": "Swin2SRImageProcessor"})", {"Swin2SRImageProcessor"});
  refused("[1]", {"is not an object"});
  refused("{", {"is not JSON"});
  put("config.json", R"({"model_type": "bert"})");
  refused("{}", {"names no image_processor_type", "'bert'"});
  std::filesystem::remove(folder_ + "/preprocessor_config.json");
  expect_error(Error::Kind::work, {folder_, "no preprocessor_config.json"},
               [&] { ImageProcessor::open(folder_); });
}

TEST_F(Processor, RefusesAnImageThatIsTooOblong) {
  const ImageProcessor tall = open(R"({"image_processor_type": "BitImageProcessor"})");
  expect_error(Error::Kind::work, {"would make"}, [&] { tall.apply(Image(1, 900000)); });
}

TEST(PictureOf, KeepsASmallCopyOfALargeImage) {
  const PatchGrid large = patch_grid_of(Image(4000, 1000), {1, 2, 3, 4}, 5, 6, 7);
  EXPECT_EQ(large.width, 4000);
  EXPECT_EQ(large.height, 1000);
  EXPECT_EQ(large.image.width, 1024);
  EXPECT_EQ(large.image.height, 256);
  EXPECT_EQ(large.seen.height, 4);
  EXPECT_EQ(large.rows, 5);
  EXPECT_EQ(large.columns, 6);
  EXPECT_EQ(large.prefix, 7);
  EXPECT_EQ(patch_grid_of(Image(1024, 3), {}, 1, 1, 0).image.width, 1024);
  EXPECT_EQ(patch_grid_of(Image(90000, 3), {}, 1, 1, 0).image.height, 1);
}

}  // namespace
}  // namespace headwater::test
