// Lets the Python tests see what the engine makes of an image. One job a line on standard input,
// words apart by tabs; the answer is a line on standard output, "ok ..." or "error ...":
//   read IMAGE OUT                      raw bytes, height x width x 3;   ok WIDTH HEIGHT
//   resize IMAGE OUT WIDTH HEIGHT K     the same after resizing with filter K
//   process IMAGE OUT FOLDER            raw floats, 3 x height x width;  ok WIDTH HEIGHT X Y W H
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "headwater/core/error.h"
#include "headwater/model/image/processor.h"
#include "headwater/model/image/read.h"

namespace headwater {
namespace {

template <class Number>
void write_raw(const std::string& path, const std::vector<Number>& numbers) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
  if (!out) throw Error(path + ": could not be written");
}

std::string answer(const std::vector<std::string>& words) {
  const Image image = read_image(words.at(1));
  if (words.at(0) == "process") {
    const Pixels pixels = ImageProcessor::open(words.at(3)).apply(image);
    write_raw(words.at(2), pixels.values);
    const ImageBox& seen = pixels.seen;
    return fmt::format("ok {} {} {} {} {} {}", pixels.width, pixels.height, seen.x, seen.y,
                       seen.width, seen.height);
  }
  const Image out = words.at(0) == "read"
                        ? image
                        : resize(image, std::stoi(words.at(3)), std::stoi(words.at(4)),
                                 static_cast<Resample>(std::stoi(words.at(5))));
  write_raw(words.at(2), out.bytes);
  return fmt::format("ok {} {}", out.width, out.height);
}

}  // namespace
}  // namespace headwater

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
    try {
      std::cout << headwater::answer(words) << std::endl;
    } catch (const headwater::Error& error) {
      std::cout << "error " << error.what() << std::endl;
    }
  }
}
