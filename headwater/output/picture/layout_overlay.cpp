#include "headwater/output/picture/layout_overlay.h"

#include <algorithm>
#include <cmath>

namespace headwater {
namespace {

constexpr double image_gap = 18;      // between images
constexpr double widest_words = 220;  // narrow images are spaced out for words up to this width
constexpr double title_points = 9.5, note_points = 8.5;

// The longer side of an image in pixels, with `images` on the page.
int longest_side(int images) { return images <= 2 ? 720 : images <= 4 ? 560 : 440; }

int columns_of_images(int images) {
  if (images <= 4) return images;
  return images <= 6 || images == 9 ? 3 : 4;
}

class OverlayLayout {
 public:
  OverlayLayout(Page& page, const Overlay& overlay, ScaleEnds scale)
      : page_(page), overlay_(overlay), scale_(scale), extent_(extent_of(overlay)) {
    const int images = static_cast<int>(overlay.panels.size()) + 1;
    columns_ = columns_of_images(images);
    const double pixels = longest_side(images) / std::max(extent_.width, extent_.height);
    // A line of one or two pixels would be invisible.
    width_ = std::max(16, static_cast<int>(std::lround(extent_.width * pixels)));
    height_ = std::max(16, static_cast<int>(std::lround(extent_.height * pixels)));
  }

  Bounds place() {
    for (const OverlayPanel& panel : overlay_.panels)
      room_ = std::max({room_, measured(panel.title, title_points, true).width,
                        measured(panel.note, note_points, false).width});
    room_ = std::max(std::min(room_, widest_words), points(width_));
    const double across = std::ceil(room_ + image_gap);
    const double words =
        measured("Ag", title_points, true).height + measured("Ag", note_points, false).height;
    const double down = std::ceil(points(height_) + words + image_gap);
    double right = 0;
    for (size_t k = 0; k <= overlay_.panels.size(); ++k) {
      const size_t column = k % static_cast<size_t>(columns_),
                   line = k / static_cast<size_t>(columns_);
      const double x = across * static_cast<double>(column), y = down * static_cast<double>(line);
      if (k == 0)
        place_plain(x, y);
      else
        place_panel(overlay_.panels[k - 1], x, y);
      right = std::max(right, x + room_);
    }
    return {0, 0, right, points(height_)};
  }

 private:
  static double points(int pixels) { return static_cast<double>(pixels) / pixels_per_point; }

  Text measured(const std::string& words, double size, bool bold) {
    return page_.measured(
        {.text = words,
         .lettering = {.points = size, .bold = bold, .colour = bold ? black : grey}});
  }

  // Words wider than their column lose their middle.
  void put_words(const std::string& words, double x, double y, bool title) {
    if (words.empty()) return;
    const double size = title ? title_points : note_points;
    Text text = measured(words, size, title);
    for (int longest = 60; text.width > room_ && longest > 3; longest -= 2)
      text = measured(shortened(words, longest), size, title);
    text.x = x;
    text.y = title ? y - 4 - text.height / 2 : y + points(height_) + 4 + text.height / 2;
    page_.put(std::move(text));
  }

  void place_plain(double x, double y) {
    put_words("Image", x, y, true);
    Image image = sampled(overlay_, extent_, width_, height_);
    page_.put(Photo{x, y, std::move(image)});
  }

  void place_panel(const OverlayPanel& panel, double x, double y) {
    put_words(panel.title.empty() ? "Where it comes from" : panel.title, x, y, true);
    put_words(panel.note, x, y, false);
    page_.put(Photo{x, y, blended(overlay_, panel, scale_, width_, height_)});
  }

  Page& page_;
  const Overlay& overlay_;
  ScaleEnds scale_;
  ImageBox extent_;
  int columns_ = 1, width_ = 0, height_ = 0;  // pixels of an image
  double room_ = 0;                           // points across for an image and its words
};

}  // namespace

Bounds place_overlay(Page& page, const Overlay& overlay, ScaleEnds scale) {
  return OverlayLayout(page, overlay, scale).place();
}

}  // namespace headwater
