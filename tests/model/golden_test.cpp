// The models of tests/golden against what transformers made of them (tools/golden_models.py).
#include <gtest/gtest.h>

#include <cmath>

#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"
#include "headwater/model/model_source.h"
#include "headwater/source/safetensors.h"
#include "tests/support/test_data.h"

namespace headwater {
namespace {

constexpr float limit = 1e-4f;

struct Golden {
  std::shared_ptr<const Model> model;
  Arrays expected;

  explicit Golden(const std::string& name) {
    const std::string folder = test::test_data("golden/" + name);
    model = Model::open(folder);
    expected = read_safetensors(folder + "/expected.safetensors");
  }
  std::vector<double> numbers(std::string_view name) {
    for (Tensor& tensor : expected.layers)
      if (tensor.name == name) return numbers_of(tensor);
    return {};
  }
  Matrix embedded() {
    TextInput text;
    for (const double id : numbers("ids")) text.ids.push_back(static_cast<int>(id));
    if (!text.ids.empty()) return model->embed(text);
    Pixels pixels;
    for (const Tensor& tensor : expected.layers)
      if (tensor.name == "pixels") {
        pixels.height = static_cast<int>(tensor.shape[1]);
        pixels.width = static_cast<int>(tensor.shape[2]);
      }
    for (const double value : numbers("pixels")) pixels.values.push_back(static_cast<float>(value));
    return model->embed(pixels);
  }
  std::unique_ptr<ModelSource> source() {
    Description example;
    example.name = model->name();
    example.tokens.resize(static_cast<size_t>(embedded().rows()));
    return std::make_unique<ModelSource>(model, example, [this] { return embedded(); });
  }
};

// Largest difference, as a share of the largest number.
double error_of(MatrixView ours, std::span<const double> theirs) {
  double worst = 0, largest = 1e-9;
  for (int t = 0; t < ours.rows(); ++t)
    for (int d = 0; d < ours.columns(); ++d) {
      const double expected = theirs[static_cast<size_t>(t * ours.columns() + d)];
      worst = std::max(worst, std::abs(static_cast<double>(ours(t, d)) - expected));
      largest = std::max(largest, std::abs(expected));
    }
  return worst / largest;
}

class GoldenModel : public testing::TestWithParam<const char*> {};

TEST_P(GoldenModel, HasTheHiddenStatesOfTransformers) {
  Golden golden(GetParam());
  const std::vector<double> states = golden.numbers("states");
  Forward forward(*golden.model, golden.embedded());
  const size_t size = static_cast<size_t>(forward.hidden().rows() * forward.hidden().columns());
  EXPECT_LT(error_of(forward.hidden(), std::span(states).first(size)), limit);
  while (forward.next() < golden.model->architecture().layers) {
    forward.step();
    EXPECT_LT(error_of(forward.hidden(),
                       std::span(states).subspan(static_cast<size_t>(forward.next()) * size, size)),
              limit)
        << "after layer " << forward.next() - 1;
  }
  Matrix finished(forward.hidden().rows(), forward.hidden().columns());
  golden.model->finish(forward.hidden(), finished);
  EXPECT_LT(error_of(finished, std::span(states).last(size)), limit);
}

// Upwards the maps come out of the forward pass; downwards and again, from kept queries and keys.
TEST_P(GoldenModel, HasTheAttentionOfTransformersEitherWayThroughTheLayers) {
  Golden golden(GetParam());
  const std::vector<double> attention = golden.numbers("attention");
  const Architecture& shape = golden.model->architecture();
  const std::unique_ptr<ModelSource> source = golden.source();
  const int n = static_cast<int>(source->description().tokens.size());
  for (const Direction direction : {Direction::up, Direction::down})
    for (int head = 0; head < shape.heads; ++head)
      source->layers(Fuse::one(head), {0, shape.layers}, direction, [&](int layer, MatrixSpan map) {
        const size_t place = static_cast<size_t>((layer * shape.heads + head) * n * n);
        const auto theirs = std::span(attention).subspan(place, static_cast<size_t>(n * n));
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j)
            EXPECT_NEAR(map(i, j), theirs[static_cast<size_t>(i * n + j)], limit)
                << "layer " << layer << " head " << head << " row " << i << " column " << j;
      });
}

TEST_P(GoldenModel, IsTheSameForEveryKernelAndThreadCount) {
  Golden golden(GetParam());
  const auto hidden = [&] {
    Forward forward(*golden.model, golden.embedded());
    while (forward.next() < golden.model->architecture().layers) forward.step();
    Matrix copy(forward.hidden().rows(), forward.hidden().columns());
    std::copy_n(forward.hidden().data(), copy.size(), copy.data());
    return copy;
  };
  const Matrix best = hidden();
  const int before = threads();
  set_threads(1);
  const Matrix alone = hidden();
  set_threads(before);
  EXPECT_TRUE(std::equal(best.data(), best.data() + best.size(), alone.data()));
  std::vector<double> theirs(best.data(), best.data() + best.size());
  for (const std::string& name : kernel::available()) {
    kernel::use(name);
    EXPECT_LT(error_of(hidden(), theirs), limit) << name;
  }
  kernel::use("");
}

INSTANTIATE_TEST_SUITE_P(EachFamily, GoldenModel,
                         testing::Values("albert", "bert", "deit", "dinov2-stretched", "distilbert",
                                         "electra", "gpt2", "llama-llama3", "mistral",
                                         "qwen2-window", "qwen3", "registers-stretched", "roberta",
                                         "vit"),
                         [](const testing::TestParamInfo<const char*>& model) {
                           std::string name = model.param;
                           std::erase(name, '-');
                           return name;
                         });

// A decoder computes the same token by token as it does for all tokens at once.
TEST(ACache, GivesTheRowsOfTheWholePass) {
  for (const char* name : {"gpt2", "llama-llama3", "mistral", "qwen2-window", "qwen3"}) {
    Golden golden(name);
    TextInput all;
    for (const double id : golden.numbers("ids")) all.ids.push_back(static_cast<int>(id));
    const int n = static_cast<int>(all.ids.size());
    Forward whole(*golden.model, golden.embedded());
    while (whole.next() < golden.model->architecture().layers) whole.step();
    Cache cache(*golden.model, n);
    // Four tokens at once, then one by one.
    for (int first = 0; first < n; first = cache.count) {
      const int count = first == 0 ? 4 : 1;
      const TextInput some{{all.ids.begin() + first, all.ids.begin() + first + count}, {}};
      Forward forward(*golden.model, golden.model->embed(some, first), cache);
      while (forward.next() < golden.model->architecture().layers) forward.step();
      for (int t = 0; t < count; ++t)
        for (int d = 0; d < forward.hidden().columns(); ++d)
          EXPECT_NEAR(forward.hidden()(t, d), whole.hidden()(first + t, d), 1e-4) << name;
    }
    EXPECT_EQ(cache.count, n);
  }
}

}  // namespace
}  // namespace headwater
