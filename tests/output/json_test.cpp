#include "headwater/output/json.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "headwater/core/utf8.h"
#include "headwater/core/version.h"
#include "made.h"

namespace headwater {
namespace {

std::string json_of(const Result& result, const WriteOptions& options = {}) {
  std::string text;
  write_json(document_of(result, options), [&](std::string_view bytes) { text += bytes; });
  return text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST(Json, HasTheFieldsOfAResultInOrder) {
  Attribution result = made(3);
  result.notes = {"a note"};
  EXPECT_EQ(
      json_of(std::move(result)),
      std::string("{\n \"headwater\": \"") + version() +
          "\",\n"
          " \"method\": \"rollout\",\n"
          " \"options\": {\"preset\": \"paper\", \"fuse\": \"mean\", \"residual\": 0.5, "
          "\"discard\": 0.0, "
          "\"order\": \"residual-first\", \"empty\": \"identity\", \"divide\": \"always\", "
          "\"layers\": [0, 2]},\n"
          " \"source\": {\"kind\": \"file\", \"name\": \"made.npz\", \"layers\": 2, \"heads\": 4, "
          "\"tokens\": 3},\n"
          " \"tokens\": [\"t0\", \"t1\", \"t2\"],\n"
          " \"rows\": [0, 1, 2],\n"
          " \"values\": [\n  [0.5, 0.25, 0.25],\n  [0.25, 0.5, 0.25],\n  [0.25, 0.25, 0.5]\n ],\n"
          " \"notes\": [\"a note\"]\n}\n");
}

TEST(Json, SaysMeanForTheMeanRow) {
  Attribution result = made_row({"a", "b"}, {1, 0});
  result.rows.clear();
  result.mean_row = true;
  const std::string text = json_of(std::move(result));
  EXPECT_TRUE(holds(text, "\"rows\": [\"mean\"]")) << text;
  EXPECT_TRUE(holds(text, "\"values\": [\n  [1.0, 0.0]\n ]")) << text;
}

TEST(Json, HasOneMoreAxisByLayer) {
  const std::string text = json_of(made_by_layer(2, 2, true));
  EXPECT_TRUE(holds(text, "\"by_layer\": [0, 1]")) << text;
  EXPECT_TRUE(
      holds(text, "\"values\": [\n  [\n   [0.125, 0.25]\n  ],\n  [\n   [0.25, 0.375]\n  ]\n ]"))
      << text;
}

TEST(Json, TellsTheItemOfABatchAndTheHeadsOfEachLayer) {
  Attribution result = made(2);
  EXPECT_FALSE(holds(json_of(made(2)), "\"item\""));
  result.source.items = 3;
  result.source.item = 1;
  result.source.heads = {4, 8};
  const std::string text = json_of(std::move(result));
  EXPECT_TRUE(holds(text, "\"heads\": [4, 8]")) << text;
  EXPECT_TRUE(holds(text, "\"item\": 1, \"items\": 3")) << text;
}

TEST(Json, TellsWhatAFilterLeftOut) {
  WriteOptions options;
  options.filter.special = true;
  Result result = made_row({"[CLS]", "a", "b"}, {0.5f, 0.125f, 0.375f});
  std::string text = json_of(result, options);
  EXPECT_TRUE(
      holds(text, "\"filter\": {\"left_out\": [0], \"mass\": [0.5], \"renormalised\": false}"))
      << text;
  EXPECT_TRUE(holds(text, "[0.5, 0.125, 0.375]")) << "values are not rescaled unless asked";
  options.filter.renormalise = true;
  text = json_of(result, options);
  EXPECT_TRUE(holds(text, "[0.0, 0.25, 0.75]")) << text;
}

TEST(Json, HasTimingOnlyWhereAsked) {
  WriteOptions options;
  EXPECT_FALSE(holds(json_of(made(1), options), "timing"));
  options.timing = true;
  EXPECT_TRUE(holds(json_of(made(1), options),
                    "\"timing\": {\"reading\": 0.0, \"preparing\": 0.0, \"method\": 0.0}"));
}

TEST(Json, HasPanelsWithLabelsAndTheirAgreement) {
  const std::string text = json_of(made_comparison(2, 2));
  EXPECT_TRUE(holds(text, "\"by\": \"discard\"")) << text;
  EXPECT_TRUE(holds(text, "\"label\": \"discard 0.1\"")) << text;
  EXPECT_TRUE(holds(text, "\"agreement\": [\n  [1.0, 0.5],\n  [0.5, 1.0]\n ]")) << text;
}

TEST(Json, HasEightMetrics) {
  Metrics metrics;
  metrics.mean_attention = 0.25;
  metrics.batch_size = 2;
  metrics.layer = 5;
  const std::string text = json_of(std::move(metrics));
  EXPECT_TRUE(holds(text, "\"layer\": 5")) << text;
  EXPECT_TRUE(holds(
      text,
      "\"metrics\": {\"mean_attention\": 0.25, \"max_attention\": 0.0, \"attention_entropy\": 0.0, "
      "\"attention_concentration\": 0.0, \"rollout_max\": 0.0, \"rollout_entropy\": 0.0, "
      "\"batch_size\": 2, \"seq_length\": 0}"))
      << text;
}

TEST(Json, TellsWhatASourceIs) {
  Info info;
  info.source.tokens = {"a"};
  info.reading = "npy, axes L H n n";
  info.causal = true;
  info.kernel = "AVX3";
  const std::string text = json_of(std::move(info));
  EXPECT_TRUE(holds(text, "\"reading\": \"npy, axes L H n n\"")) << text;
  EXPECT_TRUE(holds(text, "\"causal\": true")) << text;
  EXPECT_TRUE(holds(text, "\"kernel\": \"AVX3\"")) << text;
}

TEST(Json, EscapesHostileTokensAndStaysValidUtf8) {
  const std::vector<std::string> tokens = hostile_tokens();
  const std::string text = json_of(made_row(tokens, std::vector<float>(tokens.size(), 0)));
  EXPECT_EQ(valid_utf8(text), text);
  EXPECT_TRUE(holds(text, "\\u001b[31mred\\u001b[0m"));
  EXPECT_TRUE(holds(text, "\"a\\u0000b\""));
  EXPECT_TRUE(holds(text, "\"\\\\\\\"\""));
  EXPECT_TRUE(holds(text, "\"\\r\\n\\t\""));
  for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
}

TEST(Json, NeverSaysNanOrInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::string text = json_of(made_row({"a", "b", "c"}, {std::nanf(""), inf, -inf}));
  EXPECT_TRUE(holds(text, "[null, null, null]")) << text;
}

TEST(Json, WritesNumbersThatReadBackAsTheSameFloat) {
  std::vector<float> values;
  std::vector<std::string> tokens;
  for (uint32_t k = 0; k < 2000; ++k) {
    values.push_back(
        std::ldexp(1 + static_cast<float>(k * 4194.3f) / 8388608, -static_cast<int>(k % 140)));
    tokens.push_back("t");
  }
  const std::string text = json_of(made_row(tokens, values));
  size_t at = text.find("\"values\": [\n  [") + 15;
  for (const float value : values) {
    float read = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), read);
    ASSERT_EQ(error, std::errc());
    ASSERT_EQ(read, value);
    at = static_cast<size_t>(end - text.data()) + 2;
  }
}

TEST(Json, HoldsLittleAtATime) {
  size_t largest = 0, total = 0;
  const Result result = made(1000);
  write_json(document_of(result, {}), [&](std::string_view bytes) {
    largest = std::max(largest, bytes.size());
    total += bytes.size();
  });
  EXPECT_GT(total, 5'000'000u);
  EXPECT_LT(largest, 100'000u);
}

TEST(Json, IsAListOfSeveral) {
  const std::vector<Result> results = results_of(made(1), made(2));
  std::vector<Document> documents;
  for (const Result& result : results) documents.push_back(document_of(result, {}));
  std::string text;
  write_json(documents, [&](std::string_view bytes) { text += bytes; });
  EXPECT_TRUE(text.starts_with("[\n {\n  \"headwater\"")) << text;
  EXPECT_TRUE(text.ends_with("\n }\n]\n")) << text;
}

}  // namespace
}  // namespace headwater
