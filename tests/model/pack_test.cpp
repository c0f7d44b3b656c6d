// Texts that a model runs together: the same bytes as one by one.
#include "headwater/model/pack.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "headwater/core/threads.h"
#include "headwater/method/average.h"
#include "headwater/method/relevance.h"
#include "headwater/method/rollout.h"
#include "headwater/model/find_model.h"
#include "headwater/model/model_batch.h"
#include "headwater/model/model_source.h"
#include "headwater/open.h"
#include "headwater/source/differentiable.h"
#include "tests/support/expect_error.h"
#include "tests/support/test_data.h"

namespace headwater::test {
namespace {

// Of 2 to 140 tokens, so that packs fill up at different places; with one of a single token and
// one that is longer than a pack.
std::vector<TextInput> texts_of(const Model& model) {
  const int most = model.architecture().positions.value_or(600);
  const int words = model.architecture().text->vocabulary;
  std::vector<TextInput> out;
  for (const int length : {5, 2, 31, 1, 64, 140, 7, 7, 3, 128, 90, 33, 120, 600, 4, 17}) {
    TextInput& text = out.emplace_back();
    for (int t = 0; t < std::min(length, most); ++t)
      text.ids.push_back((3 + 7 * t + 11 * static_cast<int>(out.size())) % words);
  }
  return out;
}

std::vector<std::unique_ptr<Source>> sources_of(const std::shared_ptr<const Model>& model,
                                                bool packed) {
  const std::vector<TextInput> texts = texts_of(*model);
  std::vector<PackedText> some;
  std::vector<std::unique_ptr<Source>> out;
  for (const TextInput& text : texts)
    if (Pack::takes(text.ids.size())) some.push_back({{}, text});
  const auto pack = std::make_shared<Pack>(model, some);
  size_t place = 0;
  for (const TextInput& text : texts) {
    Description about;
    about.name = "packed";
    about.tokens.resize(text.ids.size());
    about.layers = model->architecture().layers;
    about.heads.assign(static_cast<size_t>(about.layers), model->architecture().heads);
    if (packed && Pack::takes(text.ids.size()))
      out.push_back(std::make_unique<ModelSource>(model, about, text, std::vector<std::string>(),
                                                  nullptr, pack, place++));
    else
      out.push_back(std::make_unique<ModelSource>(model, about, text));
  }
  return out;
}

void expect_same_bytes(const Attribution& a, const Attribution& b, const std::string& what) {
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t m = 0; m < a.values.size(); ++m) {
    ASSERT_EQ(a.values[m].size(), b.values[m].size());
    for (size_t k = 0; k < a.values[m].size(); ++k)
      ASSERT_EQ(a.values[m].data()[k], b.values[m].data()[k]) << what;
  }
}

class PackedTexts : public testing::TestWithParam<const char*> {};

TEST_P(PackedTexts, GiveTheSameBytesAsOneByOne) {
  const std::shared_ptr<const Model> model =
      Model::open(test_data(std::string("golden/") + GetParam()));
  Options one_row, largest_head, several_rows, mean_row, upwards, lower_layers;
  one_row.row = parse_row("-1");
  largest_head.fuse = Fuse::max;
  several_rows.row = parse_row("-1,0");
  several_rows.residual = 0;
  mean_row.row = parse_row("mean");
  upwards.preset = Preset::metrics;
  upwards.row = parse_row("0");
  lower_layers.row = parse_row("0");
  lower_layers.layers = parse_slice("0:1");
  const int before = threads();
  for (const int count : {1, 3}) {
    set_threads(count);
    for (const Options& options :
         {one_row, Options(), largest_head, several_rows, mean_row, upwards, lower_layers}) {
      const auto alone = sources_of(model, false), together = sources_of(model, true);
      for (size_t k = 0; k < alone.size(); ++k)
        expect_same_bytes(rollout(*alone[k], options), rollout(*together[k], options),
                          fmt::format("{} text {}", GetParam(), k));
    }
    const auto alone = sources_of(model, false), together = sources_of(model, true);
    for (size_t k = 0; k < alone.size(); ++k)
      expect_same_bytes(rollout_by_layer(*alone[k], one_row),
                        rollout_by_layer(*together[k], one_row), "by layer");
  }
  set_threads(before);
}

INSTANTIATE_TEST_SUITE_P(Families, PackedTexts,
                         testing::Values("bert", "roberta", "gpt2", "llama-llama3", "qwen2-window",
                                         "qwen3", "albert", "distilbert"));

TEST(Pack, AnswersAnotherQuestionOnItsOwn) {
  const std::shared_ptr<const Model> model = Model::open(test_data("golden/bert"));
  const auto alone = sources_of(model, false), together = sources_of(model, true);
  Options other;
  other.fuse = Fuse::min;
  other.layers = parse_slice("0:1");
  for (const size_t k : {2, 5, 0}) {
    expect_same_bytes(average(*alone[k]), average(*together[k]), "the first question");
    expect_same_bytes(rollout(*alone[k], other), rollout(*together[k], other), "another");
    expect_same_bytes(average(*alone[k]), average(*together[k]), "the first again");
  }
}

TEST(Pack, HoldsNeighboursUntilItIsFull) {
  ModelInput input;
  for (int k = 0; k < 40; ++k) input.texts.push_back("the keys to the cabinet are on the table");
  const std::unique_ptr<Batch> batch = open_batch("verb-number", {input, {}});
  std::vector<int> all(40);
  std::iota(all.begin(), all.end(), 0);
  auto sources = batch->together(all);
  ASSERT_EQ(sources.size(), 40u);
  const Attribution expected = rollout(*batch->item(0));
  for (std::unique_ptr<Source>& source : sources) {
    expect_same_bytes(expected, rollout(*source), source->description().name);
    source.reset();
  }
}

TEST(Pack, GivesTheSameRelevanceAsOneByOne) {
  for (const char* name : {"verb-number", "facts"}) {
    ModelInput input;
    for (const char* text : {"the keys to the cabinet are on the table", "a dog", "the", "x y z",
                             "the author near the senators is here and there and there"})
      for (int k = 0; k < 7; ++k) input.texts.push_back(text + std::string(" the dog", k));
    // Packs of 35 small texts, of three large ones and of small ones again, in the same memory.
    const std::vector<std::string> few = input.texts;
    for (int k = 0; k < 6; ++k) {
      std::string& long_text = input.texts.emplace_back("the dog");
      for (int word = 0; word < 90 + k; ++word) long_text += " keys";
    }
    input.texts.insert(input.texts.end(), few.begin(), few.end());
    const std::unique_ptr<Batch> batch = open_batch(name, {input, {}});
    std::vector<int> all(input.texts.size());
    std::iota(all.begin(), all.end(), 0);
    for (const RelevanceRule rule : {RelevanceRule::frozen, RelevanceRule::attnlrp}) {
      RelevanceOptions what;
      what.rule = rule;
      auto sources = batch->together(all);
      for (const int k : all) {
        const Attribution alone = relevance(*batch->item(k), what);
        const Attribution packed = relevance(*sources[static_cast<size_t>(k)], what);
        expect_same_bytes(alone, packed, fmt::format("{} text {}", name, k));
        EXPECT_EQ(alone.relevance->target.logit.name, packed.relevance->target.logit.name);
        EXPECT_EQ(alone.relevance->output, packed.relevance->output);
        EXPECT_EQ(alone.relevance->sum, packed.relevance->sum);
        EXPECT_EQ(alone.relevance->rest, packed.relevance->rest);
        EXPECT_EQ(alone.notes, packed.notes);
      }
    }
  }
}

// What a pack leaves out of its last layer is there when somebody asks.
TEST(Pack, PredictsAsOneByOneAfterEveryMethod) {
  for (const char* name : {"verb-number", "facts", "pairs"}) {
    ModelInput input;
    const std::string said =
        name == std::string("pairs") ? "the [MASK] to the cabinet" : "the keys";
    for (int k = 0; k < 12; ++k) input.texts.push_back(said + std::string(" the dog", k % 5));
    const std::unique_ptr<Batch> batch = open_batch(name, {input, {}});
    std::vector<int> all(input.texts.size());
    std::iota(all.begin(), all.end(), 0);
    Options row;
    row.row = parse_row("0");
    const std::vector<std::function<Attribution(Source&)>> methods = {
        [&](Source& source) { return rollout(source, row); },
        [](Source& source) { return rollout(source); },
        [](Source& source) { return relevance(source); }};
    for (const auto& method : methods) {
      auto sources = batch->together(all);
      for (const int k : all) {
        const std::unique_ptr<Source> single = batch->item(k);
        Differentiable& alone = *single->differentiable();
        Source& packed = *sources[static_cast<size_t>(k)];
        // Also after the predictions of the texts before it.
        expect_same_bytes(method(*single), method(packed), fmt::format("{} text {}", name, k));
        for (const int at : {0, 2}) {
          const std::optional<Prediction> expected = alone.prediction_at(at),
                                          found = packed.differentiable()->prediction_at(at);
          ASSERT_TRUE(expected && found);
          EXPECT_EQ(expected->best.name, found->best.name);
          EXPECT_EQ(expected->best.row, found->best.row);
          EXPECT_EQ(expected->best.value, found->best.value)
              << name << " text " << k << " at " << at;
          EXPECT_EQ(expected->probability, found->probability);
        }
        EXPECT_EQ(alone.prediction()->best.value,
                  packed.differentiable()->prediction()->best.value);
      }
    }
  }
}

TEST(Pack, SaysWhatIsWrongWithTheTextThatIsAsked) {
  ModelInput input;
  input.texts = {"the [MASK] to the cabinet are", "no mask at all", "the [MASK] is here"};
  const std::unique_ptr<Batch> batch = open_batch("pairs", {input, {}});
  const std::vector<int> all = {0, 1, 2};
  auto sources = batch->together(all);
  relevance(*sources[0]);
  expect_error(Error::Kind::work, {"mask"}, [&] { relevance(*sources[1]); });
  relevance(*sources[2]);
}

TEST(Pack, NamesAHeadThatIsNotThere) {
  const std::shared_ptr<const Model> model = Model::open(test_data("golden/bert"));
  Options options;
  options.fuse = Fuse::one(99);
  for (std::unique_ptr<Source>& source : sources_of(model, true))
    expect_error(Error::Kind::work, {"head 99"}, [&] { rollout(*source, options); });
}

TEST(ModelBatch, LeavesOutTextsThatCannotRun) {
  ModelInput input;
  input.texts = {"the keys", "", "a cabinet",
                 std::string(4000, 'a') + " " + std::string(4000, 'b')};
  for (int k = 0; k < 400; ++k) input.texts.back() += " keys";
  std::vector<std::pair<size_t, std::string>> bad;
  ModelBatch batch(open_model("verb-number"), input, "verb-number",
                   [&](size_t text, const Error& error) { bad.emplace_back(text, error.what()); });
  EXPECT_EQ(batch.size(), 2);
  ASSERT_EQ(bad.size(), 2u);
  EXPECT_EQ(bad[0].first, 1u);
  EXPECT_NE(bad[0].second.find("the text has no tokens of its own"), std::string::npos);
  EXPECT_EQ(bad[1].first, 3u);
  EXPECT_NE(bad[1].second.find("expected at most"), std::string::npos);
  EXPECT_EQ(batch.item(1)->description().texts[0], "a cabinet");
}

}  // namespace
}  // namespace headwater::test
