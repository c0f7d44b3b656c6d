// Texts that a model writes together: the same bytes as one by one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "headwater/core/threads.h"
#include "headwater/method/generate.h"
#include "headwater/model/find_model.h"
#include "headwater/model/forward.h"
#include "headwater/open.h"
#include "tests/support/expect_error.h"
#include "tests/support/test_data.h"

namespace headwater::test {
namespace {

// Prompts of 1 to 9 tokens.
std::vector<GenerationInput> prompts_of(const std::string& folder, int count) {
  const int words = open_model(folder)->architecture().text->vocabulary;
  std::vector<GenerationInput> out(static_cast<size_t>(count));
  for (int k = 0; k < count; ++k)
    for (int t = 0; t < 1 + (k * 7) % 9; ++t)
      out[static_cast<size_t>(k)].ids.push_back((3 + 7 * t + 11 * k) % words);
  return out;
}

void expect_same_bytes(MatrixView a, MatrixView b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.columns(), b.columns());
  for (int r = 0; r < a.rows(); ++r)
    for (int c = 0; c < a.columns(); ++c) ASSERT_EQ(a(r, c), b(r, c));
}

void expect_same(const Generated& a, const Generated& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.ended, b.ended);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.biases, b.biases);
  ASSERT_EQ(a.choices.size(), b.choices.size());
  for (size_t s = 0; s < a.choices.size(); ++s) {
    EXPECT_EQ(a.choices[s].probability, b.choices[s].probability);
    EXPECT_EQ(a.choices[s].second, b.choices[s].second);
  }
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t s = 0; s < a.values.size(); ++s) expect_same_bytes(a.values[s], b.values[s]);
  expect_same_bytes(a.relevance, b.relevance);
}

// Together, and one by one.
void compare(const std::string& folder, const std::vector<GenerationInput>& inputs,
             const GenerateOptions& how, const Options& options = {}) {
  const OpenInput open = open_generations(folder);
  const std::vector<Generated> together = generate(
      static_cast<int>(inputs.size()), [&](int k) { return open(inputs[static_cast<size_t>(k)]); },
      options, how);
  ASSERT_EQ(together.size(), inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    SCOPED_TRACE(fmt::format("{} text {}", folder, k));
    expect_same(generate(*open(inputs[k]), options, how), together[k]);
  }
}

class TextsTogether : public testing::TestWithParam<const char*> {};

TEST_P(TextsTogether, AreWrittenInTheSameBytesAsOneByOne) {
  const std::string folder = test_data(std::string("golden/") + GetParam());
  const std::vector<GenerationInput> prompts = prompts_of(folder, 17);
  GenerateOptions best, drawn, own;
  best.count = drawn.count = own.count = 6;
  drawn.temperature = 1.5;
  drawn.seed = 5;
  own.own_position = own.ignore_end = true;
  Options largest;
  largest.fuse = Fuse::max;
  const int before = threads();
  for (const int count : {1, 3}) {
    set_threads(count);
    compare(folder, prompts, best, largest);
    compare(folder, prompts, drawn);
    compare(folder, prompts, own);
  }
  set_threads(before);
}

INSTANTIATE_TEST_SUITE_P(Families, TextsTogether, testing::Values("mistral", "qwen3"));

// Two texts, of which one has begun: a cache each, with rows of one and of several tokens together.
TEST(Forward, GoesOnWithTextsOfDifferentLengths) {
  for (const char* name : {"gpt2", "llama-llama3", "mistral", "qwen2-window", "qwen3"}) {
    SCOPED_TRACE(name);
    const std::shared_ptr<const Model> model =
        Model::open(test_data(std::string("golden/") + name));
    const std::vector<int> begun = {5, 3, 7, 2, 6}, next = {4}, other = {8, 1, 2};
    const auto run = [&](std::vector<std::vector<int>> parts, std::vector<Cache*> caches,
                         std::vector<Matrix>& maps) {
      Matrix rows;
      std::vector<int> lengths;
      for (size_t k = 0; k < parts.size(); ++k) {
        const Matrix one = model->embed(TextInput{parts[k], {}}, caches[k]->count);
        Matrix all(rows.rows() + one.rows(), one.columns());
        std::copy_n(rows.data(), rows.size(), all.data());
        std::copy_n(one.data(), one.size(), all.data() + rows.size());
        rows = std::move(all);
        lengths.push_back(one.rows());
        maps.emplace_back(one.rows(), caches[k]->count + one.rows());
      }
      Forward forward(*model, std::move(rows), lengths, caches);
      std::vector<kernel::HeadMap> wanted;
      for (Matrix& map : maps)
        wanted.push_back({kernel::Reduce::max, 1, 0, model->architecture().heads, map});
      while (forward.next() < model->architecture().layers) forward.step_each(wanted);
      return forward.take_hidden();
    };
    Cache a(*model, 8), b(*model, 8), c(*model, 8), d(*model, 8);
    std::vector<Matrix> first, second, alone, also, both;
    run({begun}, {&a}, first);
    run({begun}, {&b}, second);
    const Matrix one = run({next}, {&a}, alone), two = run({other}, {&c}, also);
    const Matrix together = run({next, other}, {&b, &d}, both);
    expect_same_bytes(one, MatrixView(together).rows(0, 1));
    expect_same_bytes(two, MatrixView(together).rows(1, 3));
    expect_same_bytes(alone[0], both[0]);
    expect_same_bytes(also[0], both[1]);
    EXPECT_EQ(b.count, 6);
    EXPECT_EQ(d.count, 3);
  }
}

TEST(Generate, StartsTheNextTextWhenThereIsRoom) {
  // 60 prompts that ask for 100 tokens do not fit at once, and end at different times.
  std::vector<GenerationInput> prompts(60);
  for (int k = 0; k < 60; ++k)
    prompts[static_cast<size_t>(k)].prompt =
        fmt::format("The {} key went from the box to the shelf. Where is the {} key? Answer:",
                    k % 2 == 0 ? "red" : "blue", k % 3 == 0 ? "red" : "blue");
  GenerateOptions how;
  how.count = 100;
  compare("facts", prompts, how);
}

TEST(Generate, FollowsRelevanceAndContinuationsOfTextsTogether) {
  std::vector<GenerationInput> prompts(9);
  for (int k = 0; k < 9; ++k)
    prompts[static_cast<size_t>(k)].prompt =
        std::string("The red key") + (k % 2 == 0 ? " went" : " went from the box");
  GenerateOptions how;
  how.count = 3;
  how.relevance = RelevanceRule::frozen;
  compare("facts", prompts, how);
  for (GenerationInput& input : prompts) input.continuation = " to the shelf.";
  prompts[3].continuation = " to";
  how.relevance.reset();
  compare("facts", prompts, how);
  how.own_position = true;
  compare("facts", prompts, how);
}

TEST(Generate, SaysWhatIsWrongWithATextAmongOthers) {
  const OpenInput open = open_generations("facts");
  std::string longest;
  for (int k = 0; k < 2000; ++k) longest += " key";
  const std::vector<std::string> prompts = {"The red key", longest, "The"};
  expect_error(Error::Kind::work, {"positions of the model"}, [&] {
    generate(3,
             [&](int k) {
               GenerationInput input;
               input.prompt = prompts[static_cast<size_t>(k)];
               return open(input);
             },
             {}, {});
  });
  GenerateOptions none;
  none.count = 0;
  expect_error(Error::Kind::usage, {"`count` 0"}, [&] {
    generate(
        0, [&](int) { return open({}); }, {}, none);
  });
}

}  // namespace
}  // namespace headwater::test
