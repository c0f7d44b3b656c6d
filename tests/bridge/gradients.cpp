// Differentiates a model and writes what it computes, for the Python tests to compare with torch:
// headwater_gradients FOLDER ids 1,2,3 TARGET AGAINST ROW OUT, or
// headwater_gradients FOLDER pixels HEIGHT,WIDTH,FILE TARGET AGAINST ROW OUT, with "-" for no
// AGAINST or ROW. OUT gets floats: all logits; the target's id, row, value and, with one against
// it, that one's; the maps of all layers for the mean of heads, then for each head; the input
// gradient's norms and products with the input.
//
// With one word more, RULE, OUT gets relevance instead: output, sum and rest; that of each token;
// that after each layer; the heads of each layer; the edges of layer 1. Integrated gradients have
// three words: integrated, the number of steps and the baseline, and only the first two parts.
//
// Fails if a backward pass gives other bytes where the layers have to run again.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "headwater/model/classifier.h"
#include "headwater/model/model_source.h"
#include "headwater/model/trace.h"
#include "headwater/result/relevance_record.h"

namespace headwater {
namespace {

void put(std::ofstream& out, MatrixView rows) {
  for (int t = 0; t < rows.rows(); ++t)
    out.write(reinterpret_cast<const char*>(rows.row(t).data()),
              static_cast<std::streamsize>(rows.row(t).size_bytes()));
}

void put(std::ofstream& out, const Vector& numbers) {
  put(out, MatrixView(numbers.data(), 1, static_cast<int>(numbers.size())));
}

void put(std::ofstream& out, const Logit& logit) {
  put(out, Vector{static_cast<float>(logit.id), static_cast<float>(logit.row),
                  static_cast<float>(logit.value)});
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string one; std::getline(stream, one, ',');) parts.push_back(one);
  return parts;
}

Pixels read_pixels(const std::vector<std::string>& words) {
  Pixels pixels;
  pixels.height = std::stoi(words.at(0));
  pixels.width = std::stoi(words.at(1));
  pixels.values.resize(3 * static_cast<size_t>(pixels.height) * static_cast<size_t>(pixels.width));
  std::ifstream(words.at(2), std::ios::binary)
      .read(reinterpret_cast<char*>(pixels.values.data()),
            static_cast<std::streamsize>(pixels.values.size() * sizeof(float)));
  return pixels;
}

void put_logits(const Model& model, const Matrix& embedded, const std::vector<int>& ids,
                std::ofstream& out) {
  Forward forward(model, embedded.copy());
  while (forward.next() < model.architecture().layers) forward.step();
  Matrix finished(embedded.rows(), embedded.columns());
  model.finish(forward.hidden(), finished);
  const Classifier& classifier = model.classifier();
  const bool one = classifier.kind() == Classifier::Kind::classes && classifier.by_row();
  put(out,
      classifier.logits(one ? MatrixView(finished).rows(classifier.row(ids, finished.rows()), 1)
                            : finished));
}

void check_layers_that_run_again(const Model& model, const Matrix& embedded, Propagation how) {
  Trace run = trace(model, embedded.copy());
  if (run.states.empty()) throw std::runtime_error("a small model keeps its layers");
  const auto down = [&] {
    Matrix gradient = run.finished.copy();
    pass_back(model, run, how, gradient);
    return gradient;
  };
  const Matrix kept = down();
  run.states.clear();
  const Matrix again = down();
  if (!std::equal(kept.data(), kept.data() + kept.size(), again.data()))
    throw std::runtime_error("layers that run again have another gradient");
}

template <class Input>
void write_all(const std::shared_ptr<const Model>& owned, const Input& input,
               const std::vector<int>& ids, GradientRequest request, const char* path) {
  const Model& model = *owned;
  std::ofstream out(path, std::ios::binary);
  const Matrix embedded = model.embed(input);
  put_logits(model, embedded, ids, out);
  check_layers_that_run_again(model, embedded, Propagation());
  Description example;
  example.tokens.resize(static_cast<size_t>(embedded.rows()));
  example.ids = ids;
  const int layers = model.architecture().layers;
  request.range = {0, layers};
  ModelSource source(owned, example, input);
  GradientAnswer answer;
  for (int head = -1; head < model.architecture().heads; ++head) {
    request.fuse = head < 0 ? Fuse::mean : Fuse::one(head);
    std::vector<Matrix> maps(static_cast<size_t>(layers));
    answer = source.gradients(request, [&](int layer, MatrixSpan map) {
      Matrix& kept = maps[static_cast<size_t>(layer)] = Matrix(map.rows(), map.columns());
      for (int i = 0; i < map.rows(); ++i)
        std::copy_n(map.row(i).data(), map.columns(), kept.row(i).data());
    });
    if (head < 0) {
      put(out, answer.target.logit);
      if (answer.target.against) put(out, *answer.target.against);
    }
    for (const Matrix& map : maps) put(out, map);
  }
  put(out, answer.input.norm);
  put(out, answer.input.times_input);
}

template <class Input>
void write_relevance(const std::shared_ptr<const Model>& model, const Input& input,
                     const std::vector<int>& ids, const RelevanceRequest& request,
                     const char* path) {
  const Matrix embedded = model->embed(input);
  check_layers_that_run_again(*model, embedded, Propagation(request.rule));
  Description example;
  example.tokens.resize(static_cast<size_t>(embedded.rows()));
  example.ids = ids;
  const RelevanceAnswer answer = ModelSource(model, example, input).relevance(request);
  std::ofstream out(path, std::ios::binary);
  put(out, Vector{static_cast<float>(answer.output), static_cast<float>(answer.sum),
                  static_cast<float>(answer.rest)});
  put(out, answer.input);
  for (const Matrix* part : {&answer.by_layer, &answer.heads, &answer.edges}) put(out, *part);
}

RelevanceRequest relevance_request(const TargetRequest& target, int count, char** words) {
  RelevanceRequest request;
  static_cast<TargetRequest&>(request) = target;
  request.rule = parse_relevance_rule(words[8]);
  if (count == 11) {
    request.steps = std::atoi(words[9]);
    request.baseline = words[10];
  } else {
    request.by_layer = request.heads = true;
    request.edges = 1;
  }
  return request;
}

int run(int count, char** words) {
  if (count != 8 && count != 9 && count != 11) return 2;
  const bool reads = std::string(words[2]) == "ids";
  const std::shared_ptr<const Model> model =
      Model::open(words[1], false, reads ? Side::text : Side::image);
  GradientRequest request;
  request.target = words[4];
  if (std::string(words[5]) != "-") request.against = words[5];
  if (std::string(words[6]) != "-") request.row = std::atoi(words[6]);
  if (reads) {
    TextInput input;
    for (const std::string& id : split(words[3])) input.ids.push_back(std::stoi(id));
    if (count == 8)
      write_all(model, input, input.ids, request, words[7]);
    else
      write_relevance(model, input, input.ids, relevance_request(request, count, words), words[7]);
  } else {
    const Pixels pixels = read_pixels(split(words[3]));
    if (count == 8)
      write_all(model, pixels, {}, request, words[7]);
    else
      write_relevance(model, pixels, {}, relevance_request(request, count, words), words[7]);
  }
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
