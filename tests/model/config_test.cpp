#include "headwater/model/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "headwater/core/error.h"
#include "headwater/model/architecture.h"

namespace headwater {
namespace {

std::string refusal(const std::string& json) {
  try {
    describe(Config::parse(json, "config.json"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A config of BERT with `more` entries in it.
std::string bert(const std::string& more, const std::string& width = "12") {
  return R"({"model_type": "bert", "hidden_size": )" + width +
         R"(, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 16,
             "max_position_embeddings": 32, "vocab_size": 10, "type_vocab_size": 2)" +
         more + "}";
}

std::string llama(const std::string& more) {
  return R"({"model_type": "llama", "hidden_size": 12, "num_hidden_layers": 2,
             "num_attention_heads": 3, "num_key_value_heads": 1, "intermediate_size": 16,
             "max_position_embeddings": 32, "vocab_size": 10)" +
         more + "}";
}

TEST(AConfig, OfAKnownFamilyIsDescribed) {
  const Architecture model = describe(Config::parse(bert(""), "config.json"));
  EXPECT_EQ(model.family, "bert");
  EXPECT_EQ(model.layers, 2);
  EXPECT_EQ(model.head_size, 4);
  EXPECT_EQ(model.layer(1) + model.query.name, "encoder.layer.1.attention.self.query");
}

TEST(AConfig, NullIsAsGoodAsMissing) {
  EXPECT_EQ(refusal(bert(R"(, "pruned_heads": null, "something_new": null)")), "");
}

std::vector<std::string> notes(const std::string& json, bool ignore_code = false) {
  return describe(Config::parse(json, "config.json"), ignore_code).notes;
}

TEST(AConfig, NamesEntriesNobodyKnowsInOneNote) {
  EXPECT_EQ(notes(bert("")), std::vector<std::string>());
  EXPECT_EQ(notes(bert(R"(, "window_of_doom": 7, "badwordsids": [])")),
            std::vector<std::string>{"entries of config.json that headwater does not know were "
                                     "ignored: window_of_doom, badwordsids"});
  EXPECT_EQ(
      notes(llama(R"(, "odd": 1, "rope_scaling": {"rope_type": "linear", "factor": 2, "odd": 1})")),
      std::vector<std::string>{"entries of config.json that headwater does not know were ignored: "
                               "rope_scaling.odd, odd"});
}

TEST(AConfig, WithCodeInItsFolderIsRefusedUnlessTheCodeIsIgnored) {
  const std::string own = bert(R"(, "auto_map": {"AutoConfig": "x.C", "AutoModel": "x.M"})");
  EXPECT_EQ(refusal(own),
            "config.json: 'auto_map' takes AutoModel from code in the folder, which headwater does "
            "not run, expected a model of transformers itself; if the code computes what 'bert' of "
            "transformers does, set `ignore_code`");
  EXPECT_EQ(notes(own, true),
            std::vector<std::string>{
                "config.json takes AutoModel from code in the folder, which was not run"});
  EXPECT_EQ(refusal(bert(R"(, "auto_map": {"AutoConfig": "x.C", "AutoTokenizer": "x.T"})")), "");
}

TEST(AConfig, OfQuantisedWeightsSaysHowTheyWereQuantised) {
  const auto quantised = [](const std::string& entries) {
    return refusal(llama(R"(, "quantization_config": )" + entries));
  };
  EXPECT_NE(quantised(R"({"quant_method": "gptq", "bits": 4})").find("(GPTQ, 4 bits)"),
            std::string::npos);
  EXPECT_NE(quantised(R"({"load_in_8bit": true})").find("(bitsandbytes)"), std::string::npos);
  EXPECT_NE(quantised(R"({"bits": 4})").find("(a method that it does not name, 4 bits)"),
            std::string::npos);
  EXPECT_EQ(quantised("{}"), "");
}

TEST(AConfig, WithSomethingNotImplementedIsRefusedByName) {
  EXPECT_NE(refusal(bert(R"(, "position_embedding_type": "relative_key")"))
                .find("'position_embedding_type' is \"relative_key\", which headwater does not "
                      "implement, expected \"absolute\""),
            std::string::npos);
  EXPECT_NE(refusal(bert(R"(, "is_decoder": true)")).find("'is_decoder' is true"),
            std::string::npos);
  EXPECT_NE(refusal(bert(R"(, "pruned_heads": {"0": [1]})")).find("'pruned_heads'"),
            std::string::npos);
  EXPECT_NE(refusal(bert(R"(, "quantization_config": {"bits": 4})")).find("'quantization_config'"),
            std::string::npos);
  EXPECT_NE(refusal(llama(R"(, "rope_scaling": {"rope_type": "proportional", "factor": 2})"))
                .find("rope_type 'proportional' is not implemented"),
            std::string::npos);
  EXPECT_NE(refusal(llama(R"(, "partial_rotary_factor": 0.5)")).find("'partial_rotary_factor'"),
            std::string::npos);
  EXPECT_NE(refusal(llama(R"(, "layer_types": ["full_attention", "linear_attention"])"))
                .find("layer_types has 'linear_attention'"),
            std::string::npos);
  EXPECT_NE(refusal(llama(R"(, "layer_types": ["full_attention", "sliding_attention"])"))
                .find("layer 1 is sliding_attention"),
            std::string::npos);
  EXPECT_NE(refusal(llama(R"(, "is_causal": false)")).find("'is_causal' is false"),
            std::string::npos);
  EXPECT_NE(refusal(bert(R"(, "is_causal": true)")).find("'is_causal' is true"), std::string::npos);
  EXPECT_NE(refusal(bert(R"(, "add_cross_attention": true)")).find("'add_cross_attention'"),
            std::string::npos);
  EXPECT_NE(refusal(bert(R"(, "alibi": true)")).find("'alibi' is true"), std::string::npos);
  EXPECT_NE(refusal(bert(R"(, "alibi_starting_size": 512)")).find("ALiBi"), std::string::npos);
  EXPECT_EQ(refusal(llama(R"(, "is_decoder": true, "is_causal": true)")), "");
}

TEST(AConfig, WithARatioThatNoLayerCanHaveIsRefused) {
  const auto dinov2 = [](const std::string& ratio) {
    return R"({"model_type": "dinov2", "hidden_size": 12, "num_hidden_layers": 2,
               "num_attention_heads": 3, "image_size": 8, "patch_size": 4, "mlp_ratio": )" +
           ratio + "}";
  };
  EXPECT_EQ(refusal(dinov2("4")), "");
  for (const char* ratio : {"0", "-4", "1e300", "1073741824", "0.01"})
    EXPECT_NE(refusal(dinov2(ratio)).find("mlp_ratio times hidden_size is"), std::string::npos)
        << ratio;
}

TEST(AConfig, OfRobertaWithoutAPositionBehindThePaddingIsRefused) {
  const auto roberta = [](int padding) {
    return R"({"model_type": "roberta", "hidden_size": 12, "num_hidden_layers": 2,
               "num_attention_heads": 3, "intermediate_size": 16, "vocab_size": 10,
               "type_vocab_size": 1, "max_position_embeddings": 32, "pad_token_id": )" +
           std::to_string(padding) + "}";
  };
  EXPECT_EQ(refusal(roberta(30)), "");
  EXPECT_EQ(describe(Config::parse(roberta(30), "config.json")).positions, 1);
  for (const int padding : {31, 32, 33, 10000})
    EXPECT_EQ(refusal(roberta(padding)),
              fmt::format("config.json: 'max_position_embeddings' is 32, expected more than {}, "
                          "because positions start after 'pad_token_id' {}; check both entries",
                          padding + 1, padding));
}

TEST(AConfig, WithAbsurdNumbersIsRefused) {
  EXPECT_NE(refusal(bert("", "100000000000")).find("'hidden_size' is 100000000000, expected"),
            std::string::npos);
  EXPECT_NE(refusal(bert("", "-3")).find("'hidden_size' is -3"), std::string::npos);
  EXPECT_NE(refusal(bert("", "13")).find("expected a divisor of hidden_size, 13"),
            std::string::npos);
  EXPECT_NE(refusal(bert("", "\"wide\"")).find("'hidden_size' is \"wide\""), std::string::npos);
  EXPECT_NE(refusal(bert(R"(, "layer_norm_eps": "tiny")")).find("expected a number"),
            std::string::npos);
  EXPECT_NE(refusal(llama(R"(, "rope_theta": -1)")).find("expected a number above 0"),
            std::string::npos);
  EXPECT_NE(refusal(llama(R"(, "head_dim": 5)")).find("expected an even number"),
            std::string::npos);
}

TEST(AConfig, OfAnUnknownFamilyNamesThoseThatRun) {
  EXPECT_NE(refusal(R"({"model_type": "xlnet"})").find("expected one of albert, "),
            std::string::npos);
  EXPECT_NE(refusal(R"({"model_type": 3})").find("'model_type' is 3, expected a string"),
            std::string::npos);
  EXPECT_NE(refusal(R"({})").find("has no 'model_type'"), std::string::npos);
}

TEST(AConfig, ThatIsNoObjectOrSaysThingsTwiceIsRefused) {
  EXPECT_NE(refusal("[1, 2]").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(refusal(R"({"model_type": "bert", "model_type": "bert"})").find("twice"),
            std::string::npos);
}

TEST(AConfig, NamesItsClassesInOrderOfTheirNumbers) {
  std::string labels = R"(, "id2label": {"0": "a", "1": "b", "10": "k", "2": "c"})";
  const Architecture model = describe(Config::parse(bert(labels), "config.json"));
  ASSERT_EQ(model.labels.size(), 11U);
  EXPECT_EQ(model.labels[2], "c");
  EXPECT_EQ(model.labels[10], "k");
  const std::string numbers = R"(, "id2label": {"0": 4, "1": -1})";
  EXPECT_EQ(describe(Config::parse(bert(numbers), "config.json")).labels,
            (std::vector<std::string>{"4", "-1"}));
  EXPECT_NE(refusal(bert(R"(, "id2label": {"99999999999999999999": "a"})")).find("id2label"),
            std::string::npos);
}

}  // namespace
}  // namespace headwater
