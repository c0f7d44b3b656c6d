// Runs a model and writes what it computes, for the Python tests to compare with transformers:
// headwater_states FOLDER ids 1,2,3 OUT, or headwater_states FOLDER pixels HEIGHT WIDTH FILE OUT.
// OUT gets floats: the rows before layer 0, after each layer, after the final norm, then for each
// head the maps of all layers.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "headwater/model/model_source.h"

namespace headwater {
namespace {

void put(std::ofstream& out, MatrixView rows) {
  for (int t = 0; t < rows.rows(); ++t)
    out.write(reinterpret_cast<const char*>(rows.row(t).data()),
              static_cast<std::streamsize>(rows.row(t).size_bytes()));
}

TextInput read_ids(const std::string& text) {
  TextInput input;
  std::istringstream stream(text);
  for (std::string id; std::getline(stream, id, ',');) input.ids.push_back(std::stoi(id));
  return input;
}

Pixels read_pixels(int height, int width, const char* path) {
  Pixels pixels;
  pixels.height = height;
  pixels.width = width;
  pixels.values.resize(3 * static_cast<size_t>(height) * static_cast<size_t>(width));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(pixels.values.data()),
            static_cast<std::streamsize>(pixels.values.size() * sizeof(float)));
  return pixels;
}

void write_states(const std::shared_ptr<const Model>& owned, const Matrix& rows, const char* path) {
  const Model& model = *owned;
  std::ofstream out(path, std::ios::binary);
  Forward forward(model, rows.copy());
  put(out, forward.hidden());
  while (forward.next() < model.architecture().layers) {
    forward.step();
    put(out, forward.hidden());
  }
  Matrix finished(rows.rows(), rows.columns());
  model.finish(forward.hidden(), finished);
  put(out, finished);
  Description example;
  example.tokens.resize(static_cast<size_t>(rows.rows()));
  ModelSource source(owned, example, [&] { return rows.copy(); });
  // The first head comes out of the forward pass itself, the others from kept queries and keys.
  for (int head = 0; head < model.architecture().heads; ++head)
    source.layers(Fuse::one(head), {0, model.architecture().layers}, Direction::up,
                  [&](int, MatrixSpan map) { put(out, map); });
}

int run(int count, char** words) {
  const bool sees = count > 2 && std::string(words[2]) == "pixels";
  const std::shared_ptr<const Model> model =
      Model::open(words[1], false, sees ? Side::image : Side::text);
  if (count == 5 && std::string(words[2]) == "ids")
    write_states(model, model->embed(read_ids(words[3])), words[4]);
  else if (count == 7 && sees)
    write_states(model,
                 model->embed(read_pixels(std::atoi(words[3]), std::atoi(words[4]), words[5])),
                 words[6]);
  else
    return 2;
  return 0;
}

}  // namespace
}  // namespace headwater

int main(int count, char** words) {
  try {
    return headwater::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
