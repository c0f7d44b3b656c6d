#include "headwater/output/picture/page.h"

#include <algorithm>
#include <cmath>

namespace headwater {

const Text& Page::put(Text text) {
  scene_.texts.push_back(measured(std::move(text)));
  for (const Point& corner : scene_.texts.back().corners()) reach(corner.x, corner.y);
  return scene_.texts.back();
}

void Page::put(Photo photo) {
  reach(photo.x, photo.y);
  reach(photo.x + photo.width(), photo.y + photo.height());
  scene_.photos.push_back(std::move(photo));
}

void Page::put(Cells cells) {
  reach(cells.x, cells.y);
  reach(cells.x + cells.width(), cells.y + cells.height());
  scene_.cells.push_back(std::move(cells));
}

void Page::put(const Box& box) {
  reach(box.x, box.y);
  reach(box.x + box.width, box.y + box.height);
  scene_.boxes.push_back(box);
}

void Page::put(const Line& line) {
  reach(line.from.x, line.from.y);
  reach(line.to.x, line.to.y);
  scene_.lines.push_back(line);
}

void Page::shift(double right, double down) {
  const auto move = [&](double& x, double& y) {
    x += right;
    y += down;
  };
  for (Photo& photo : scene_.photos) move(photo.x, photo.y);
  for (Cells& cells : scene_.cells) move(cells.x, cells.y);
  for (Box& box : scene_.boxes) move(box.x, box.y);
  for (Text& text : scene_.texts) move(text.x, text.y);
  for (Line& line : scene_.lines) {
    move(line.from.x, line.from.y);
    move(line.to.x, line.to.y);
  }
  move(bounds_.left, bounds_.top);
  move(bounds_.right, bounds_.bottom);
}

Scene Page::finished(double margin) && {
  scene_.width = std::ceil(bounds_.right + margin);
  scene_.height = std::ceil(bounds_.bottom + margin);
  return std::move(scene_);
}

void Page::reach(double x, double y) {
  if (empty_) bounds_ = {x, y, x, y};
  empty_ = false;
  bounds_.left = std::min(bounds_.left, x);
  bounds_.right = std::max(bounds_.right, x);
  bounds_.top = std::min(bounds_.top, y);
  bounds_.bottom = std::max(bounds_.bottom, y);
}

}  // namespace headwater
