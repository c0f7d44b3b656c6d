// Attribution of patches laid over an image: the right colours at the right places.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "headwater/output/json.h"
#include "headwater/output/picture/blend.h"
#include "headwater/output/picture/figure_overlay.h"
#include "headwater/output/picture/layout.h"
#include "headwater/output/terminal/patches.h"
#include "headwater/output/terminal/terminal.h"
#include "made.h"
#include "tests/support/expect_error.h"

namespace headwater {
namespace {

Colour at(const Image& image, int x, int y) {
  const uint8_t* rgb = image.row(y).data() + std::ptrdiff_t{3} * x;
  return {rgb[0], rgb[1], rgb[2]};
}

/// A 40 x 20 image, left half white, right half black; the model saw its middle 20 x 20 as 2 x 2
/// patches after [CLS] with values 0.5 (of [CLS]), 0, 0.1, 0.15, 0.25.
Attribution seen_middle() {
  Attribution out = made_row({"[CLS]", "a", "b", "c", "d"}, {0.5f, 0, 0.1f, 0.15f, 0.25f});
  PatchGrid picture{40, 20, {10, 0, 20, 20}, Image(40, 20), 2, 2, 1};
  for (int y = 0; y < 20; ++y) std::fill_n(picture.image.row(y).begin(), 60, uint8_t{255});
  out.source.patches = std::move(picture);
  return out;
}

Attribution all_rows(int rows, int columns, int prefix) {
  Attribution out = made(prefix + rows * columns);
  out.source.patches = PatchGrid{64, 48, {0, 0, 64, 48}, Image(64, 48), rows, columns, prefix};
  return out;
}

Overlay overlay_of_row(const Attribution& result, const Filter& filter = {}) {
  return overlay_of(result, 0, filter, "x.png");
}

Colour mixed(Colour colour, double grey) {
  const auto mix = [&](int part) {
    return static_cast<unsigned char>(0.4 * grey + 0.6 * part + 0.5);
  };
  return {mix(colour.red), mix(colour.green), mix(colour.blue)};
}

TEST(Overlay, PutsEachPatchWhereTheModelSawIt) {
  const Overlay overlay = overlay_of_row(seen_middle());
  const Image image = blended(overlay, overlay.panels[0], {0, 0.25}, 80, 40);  // two to a pixel
  const Colour low = colour_at(Ramp::viridis, 0), high = colour_at(Ramp::viridis, 1);
  EXPECT_EQ(at(image, 20, 0), mixed(low, 255));  // first, on white
  EXPECT_EQ(at(image, 39, 19), mixed(low, 255));
  EXPECT_EQ(at(image, 40, 0), mixed(colour_at(Ramp::viridis, 0.4), 0));  // second, on black
  EXPECT_EQ(at(image, 39, 20), mixed(colour_at(Ramp::viridis, 0.6), 255));
  EXPECT_EQ(at(image, 59, 39), mixed(high, 0));
  EXPECT_EQ(at(image, 19, 39), white);                    // not seen: white stays white,
  EXPECT_EQ(at(image, 60, 39), (Colour{191, 191, 191}));  // black is nearly white
}

TEST(Overlay, MakesRoomForACropThatIsLargerThanTheImage) {
  Attribution result = seen_middle();
  result.source.patches->seen = {-10, -20, 60, 60};
  const Overlay overlay = overlay_of_row(result);
  const ImageBox extent = extent_of(overlay);
  EXPECT_EQ(extent.x, -10);
  EXPECT_EQ(extent.y, -20);
  EXPECT_EQ(extent.width, 60);
  EXPECT_EQ(extent.height, 60);
  const Image plain = sampled(overlay, extent, 60, 60);
  EXPECT_EQ(at(plain, 9, 30), black);
  EXPECT_EQ(at(plain, 10, 20), white);
  EXPECT_EQ(at(plain, 29, 39), white);
  EXPECT_EQ(at(plain, 30, 39), black);
  EXPECT_EQ(at(plain, 10, 40), black);
}

TEST(Overlay, TakesTheMeanOfWhatAPixelCovers) {
  const Overlay overlay = overlay_of_row(seen_middle());
  const Image one = sampled(overlay, {0, 0, 40, 20}, 1, 1);
  EXPECT_NEAR(at(one, 0, 0).green, 127.5, 0.5);
  const Image five = sampled(overlay, {0, 0, 40, 20}, 5, 1);  // the middle one is half and half
  EXPECT_EQ(at(five, 1, 0), white);
  EXPECT_NEAR(at(five, 2, 0).green, 127.5, 0.5);
  EXPECT_EQ(at(five, 3, 0), black);
}

TEST(Overlay, SaysHowMuchLiesInNoPatch) {
  EXPECT_EQ(overlay_of_row(seen_middle()).panels[0].note, "50.0 % of the mass in [CLS]");
  Attribution result = seen_middle();
  result.source.patches->prefix = 3;
  result.source.patches->columns = 1;
  EXPECT_EQ(overlay_of_row(result).panels[0].note, "50.0 % of the mass in [CLS], 10.0 % in 2 more");
  result.source.patches->prefix = 1;
  result.source.patches->columns = 2;
  result.values[0](0, 0) = 0;
  EXPECT_EQ(overlay_of_row(result).panels[0].note, "0.0 % of the mass in [CLS]");
}

TEST(Overlay, ShowsTheFirstRowOfAllRows) {
  const Figure figure = figure_of(results_of(all_rows(3, 4, 1))[0], {}, "x.png");
  const Overlay& overlay = std::get<Overlay>(figure.body);
  ASSERT_EQ(overlay.panels.size(), 1u);
  EXPECT_EQ(overlay.panels[0].values.rows(), 3);
  EXPECT_EQ(overlay.panels[0].values.columns(), 4);
  EXPECT_EQ(figure.details.back(), "output token 0 't0'");
}

TEST(Overlay, HasOneScaleForAllPanels) {
  Comparison result = made_comparison(13, 3);
  for (Attribution& panel : result.panels) panel.source.patches = all_rows(3, 4, 1).source.patches;
  result.panels[1].values[0](0, 5) = 0.2f;
  result.panels[2].values[0](0, 12) = 0.01f;
  const Figure figure = figure_of(results_of(std::move(result))[0], {}, "x.png");
  EXPECT_EQ(std::get<Overlay>(figure.body).panels.size(), 3u);
  EXPECT_FLOAT_EQ(static_cast<float>(figure.top), 0.2f);
  EXPECT_FLOAT_EQ(static_cast<float>(figure.bottom), 0.01f);
}

TEST(Overlay, IsNotMadeWherePatchesAndValuesDoNotAgree) {
  Attribution result = all_rows(3, 4, 1);
  result.source.patches->columns = 5;
  EXPECT_FALSE(has_overlay(result));
  EXPECT_FALSE(has_overlay(made(13)));
  EXPECT_TRUE(std::holds_alternative<Grid>(figure_of(std::move(result), {}, "x").body));
  Comparison mixed = made_comparison(13, 2);
  mixed.panels[0].source.patches = all_rows(3, 4, 1).source.patches;
  EXPECT_FALSE(has_overlay(mixed));
  mixed.panels[1].source.patches = all_rows(3, 4, 1).source.patches;
  EXPECT_TRUE(has_overlay(mixed));
  mixed.panels[1].source.patches->image.bytes[7] = 1;
  EXPECT_FALSE(has_overlay(mixed));
}

TEST(Overlay, LeavesFilteredPatchesWithoutColour) {
  Filter filter;
  filter.words = {"d"};
  const Overlay overlay = overlay_of_row(seen_middle(), filter);
  EXPECT_TRUE(std::isnan(overlay.panels[0].values(1, 1)));
  const Image image = blended(overlay, overlay.panels[0], {0, 0.15}, 40, 20);
  EXPECT_EQ(at(image, 29, 19), black);
  filter.words = {"a", "b", "c", "d"};
  test::expect_error(Error::Kind::work, {"x.png", "none of 4 patches"},
                     [&] { overlay_of_row(seen_middle(), filter); });
}

TEST(Overlay, StaysOnItsPage) {
  for (const auto& [width, height] : {std::pair{8, 8}, {4000, 30}, {30, 4000}, {640, 480}})
    for (const int layers : {1, 2, 5, 12}) {
      Attribution result = made_by_layer(13, layers, true);
      result.source.tokens[0] = std::string(300, 'W');
      result.source.patches =
          PatchGrid{width, height, {-3, 2, width * 0.8, height * 1.1}, Image(8, 8), 3, 4, 1};
      Typesetter typesetter;
      const Scene scene = layout(figure_of(results_of(std::move(result))[0], {}, "x"), typesetter);
      ASSERT_EQ(scene.photos.size(), static_cast<size_t>(layers) + 1);
      for (const Photo& photo : scene.photos) {
        EXPECT_EQ(photo.x, std::round(photo.x));
        EXPECT_GE(photo.x, 0);
        EXPECT_GE(photo.y, 0);
        EXPECT_LE(photo.x + photo.width(), scene.width);
        EXPECT_LE(photo.y + photo.height(), scene.height);
        for (const Text& text : scene.texts) {
          if (text.angle != 0) continue;
          const auto corners = text.corners();
          EXPECT_GE(corners[0].x, 0);
          EXPECT_LE(corners[2].x, scene.width) << text.text;
          EXPECT_FALSE(corners[0].x < photo.x + photo.width() && corners[2].x > photo.x &&
                       corners[0].y < photo.y + photo.height() && corners[2].y > photo.y)
              << text.text << " lies on an image of " << width << " x " << height;
        }
      }
    }
}

TEST(Overlay, IsDrawnInAllFormats) {
  for (const std::string ending : {".png", ".svg", ".pdf"}) {
    const std::string path = testing::TempDir() + "headwater_overlay" + ending;
    write(seen_middle(), path);
    EXPECT_GT(std::filesystem::file_size(path), 1000u);
    std::filesystem::remove(path);
  }
}

TEST(PatchScale, BeginsAtTheSmallestValueUnlessAllAreAlike) {
  const auto ends = [](std::vector<float> values) {
    const ScaleEnds scale = patch_scale(values, false);
    return std::pair(static_cast<float>(scale.bottom), static_cast<float>(scale.top));
  };
  EXPECT_EQ(ends({0.5f, 0.25f, 0.5f}), std::pair(0.25f, 0.5f));
  EXPECT_EQ(ends({0.5f, 0.49f}), std::pair(0.0f, 1.0f));  // in the middle of the scale
  EXPECT_EQ(ends({0.5f, 0.0f}), std::pair(0.0f, 0.5f));
  EXPECT_EQ(ends({4, 0.5f, 0.25f, 0.5f}), std::pair(0.25f, 1.5f));  // one that dwarfs the others
  EXPECT_EQ(ends({0, 0}), std::pair(0.0f, 1.0f));
  EXPECT_EQ(ends({std::nanf(""), INFINITY}), std::pair(0.0f, 1.0f));
}

TEST(Ticks, LieBetweenTheEnds) {
  for (const auto& [bottom, top] : {std::pair{0.0021, 0.0177}, {0.5, 0.6}, {1e-9, 1.0}, {3.0, 7.0}})
    for (const int count : {2, 3, 8}) {
      const std::vector<double> all = ticks(bottom, top, count);
      ASSERT_GE(all.size(), 2u);
      ASSERT_LE(all.size(), static_cast<size_t>(count) + 1);
      EXPECT_GE(all.front(), bottom * (1 - 1e-6));
      EXPECT_LE(all.back(), top * (1 + 1e-6));
    }
}

TEST(Overlay, IsRecordedInTheJson) {
  std::string text;
  const Result result = seen_middle();
  write_json(document_of(result, {}), [&](std::string_view bytes) { text += bytes; });
  EXPECT_NE(
      text.find("\"image\": {\"width\": 40, \"height\": 20, \"seen\": [10.0, 0.0, 20.0, 20.0], "
                "\"rows\": 2, \"columns\": 2, \"prefix\": 1}"),
      text.npos)
      << text;
}

TEST(TerminalPatches, ShowsTheImageAndThePatchesBesideIt) {
  const std::string text = terminal(seen_middle(), 0, {}, true, 80);
  // White and black of the image, then the two lower patches, each a block of two columns.
  EXPECT_NE(text.find("\x1b[48;2;0;0;0m\x1b[38;2;0;0;0m\u2580\x1b[0m  \x1b[48;2;"), text.npos)
      << text;
  const Colour high = colour_at(Ramp::viridis, 1);
  EXPECT_NE(text.find("\x1b[48;2;" + std::to_string(high.red) + ";" + std::to_string(high.green) +
                      ";" + std::to_string(high.blue) + "m  \x1b[0m\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find("dark 0, bright 0.25\n"), text.npos) << text;
  EXPECT_NE(text.find("0.5000"), text.npos);  // [CLS] among the largest
}

TEST(TerminalPatches, KeepToTheWidth) {
  for (const int columns : {1, 14, 37, 90, 300})
    for (const int width : {20, 80, 133}) {
      Attribution result = made_row(std::vector<std::string>(static_cast<size_t>(3 * columns), "p"),
                                    std::vector<float>(static_cast<size_t>(3 * columns), 0.1f));
      result.source.patches = PatchGrid{64, 48, {0, 0, 64, 48}, Image(64, 48), 3, columns, 0};
      const std::string text = patches_text(overlay_of_row(result), width);
      int column = 0;
      for (size_t k = 0; k < text.size(); ++k) {
        if (text[k] == '\x1b') {
          k = text.find('m', k);
        } else if (text[k] == '\n') {
          column = 0;
        } else if ((text[k] & 0xC0) != 0x80) {
          ASSERT_LE(++column, std::max(width, 24)) << columns << " in " << width;
        }
      }
    }
}

TEST(TerminalPatches, AreATableForPipes) {
  const std::string text = terminal(seen_middle(), 0, {}, false, 80);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_NE(text.find("    4  d      0.2500  ############\n"), text.npos) << text;
}

}  // namespace
}  // namespace headwater
