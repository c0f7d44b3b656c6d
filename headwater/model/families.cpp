#include <fmt/ranges.h>

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/model/entries.h"
#include "headwater/model/family/family.h"

namespace headwater {
namespace {

struct Family {
  std::string_view type;
  Architecture (*describe)(const Config& config);
  Architecture (*describe_image)(const Config& config) = nullptr;    // if it has two parts
  Architecture (*describe_decoder)(const Config& config) = nullptr;  // beside an encoder
};

constexpr Family known[] = {
    {"albert", family::albert},
    {"bart", family::bart, nullptr, family::bart_decoder},
    {"bert", family::bert},
    {"camembert", family::roberta},
    {"clip", family::clip_text, family::clip_image},
    {"clip_text_model", family::clip_text_model},
    {"clip_vision_model", family::clip_vision_model},
    {"deberta-v2", family::deberta_v2},
    {"deit", family::deit},
    {"dinov2", family::dinov2},
    {"dinov2_with_registers", family::dinov2_with_registers},
    {"distilbert", family::distilbert},
    {"electra", family::electra},
    {"gemma2", family::gemma2},
    {"gemma3_text", family::gemma3_text},
    {"gpt2", family::gpt2},
    {"gpt_neox", family::gpt_neox},
    {"llama", family::llama},
    {"mbart", family::bart, nullptr, family::bart_decoder},
    {"mistral", family::mistral},
    {"modernbert", family::modernbert},
    {"mpnet", family::mpnet},
    {"mt5", family::t5, nullptr, family::t5_decoder},
    {"olmo2", family::olmo2},
    {"opt", family::opt},
    {"phi3", family::phi3},
    {"qwen2", family::qwen2},
    {"qwen3", family::qwen3},
    {"roberta", family::roberta},
    {"siglip", family::siglip_text, family::siglip_image},
    {"siglip_text_model", family::siglip_text_model},
    {"siglip_vision_model", family::siglip_vision_model},
    {"smollm3", family::smollm3},
    {"t5", family::t5, nullptr, family::t5_decoder},
    {"vit", family::vit},
    {"xlm-roberta", family::roberta},
};

void check(const Architecture& model, const Config& config) {
  const auto divides = [&](int part, int whole, const char* what) {
    if (part < 1 || whole % part != 0)
      fail("{}: {} {} do not divide {}, expected a divisor; check the file", config.name(), part,
           what, whole);
  };
  constexpr int64_t widest = int64_t{1} << 20;
  divides(model.groups, model.heads, "key and value heads");
  if (static_cast<int64_t>(model.heads) * model.head_size > widest || model.width > widest)
    fail("{}: {} heads of {} numbers are wider than {}, expected fewer; check the file",
         config.name(), model.heads, model.head_size, widest);
  constexpr int most_layers = 10'000;
  if (model.layers > most_layers)
    fail("{}: has {} layers, expected at most {}; check the file", config.name(), model.layers,
         most_layers);
}

}  // namespace

std::vector<std::string_view> families() {
  std::vector<std::string_view> types;
  for (const Family& one : known) types.push_back(one.type);
  return types;
}

Architecture describe(const Config& config, bool ignore_code, Side side) {
  if (!config.has("model_type"))
    fail(
        "{}: has no 'model_type', expected the name of a family; add one, for example "
        "\"model_type\": "
        "\"bert\"",
        config.name());
  const std::string type = config.text("model_type");
  const std::optional<std::string> code = own_code(config);
  if (code && !ignore_code)
    fail(
        "{}: 'auto_map' takes {} from code in the folder, which headwater does not run, expected a "
        "model of transformers itself; if the code computes what '{}' of transformers does, set "
        "`ignore_code`",
        config.name(), *code, type);
  const auto found = std::ranges::find(known, type, &Family::type);
  if (found == std::end(known))
    fail(
        "{}: model_type '{}' is not a family that headwater runs, expected one of {}; load the "
        "model with PyTorch and capture it in Python, or save its attention to a file",
        config.name(), type, fmt::join(families(), ", "));
  pass_over_bookkeeping(config);
  const auto describe_side = side == Side::image     ? found->describe_image
                             : side == Side::decoder ? found->describe_decoder
                                                     : nullptr;
  Architecture model = (describe_side ? describe_side : found->describe)(config);
  refuse_other_models(config, model.causal, model.encoder_of_two || model.cross);
  model.family = type;
  model.labels = config.labels();
  const std::string problem = config.text_or("problem_type", "");
  model.several_labels = problem == "multi_label_classification";
  model.regression = problem == "regression";
  if (config.has("architectures")) {
    const std::vector<std::string> kinds = config.texts("architectures");
    if (!kinds.empty()) model.saved_as = kinds.front();
  }
  if (config.has("pad_token_id") && config.integer_or("pad_token_id", -1, -1) >= 0)
    model.padding_id = config.integer("pad_token_id", 0);
  if (model.encoder_of_two && config.flag_or("is_encoder_decoder", true))
    model.notes.push_back("only the encoder was run, not the decoder");
  config.finish();
  if (code)
    model.notes.push_back(
        fmt::format("config.json takes {} from code in the folder, which was not run", *code));
  if (!config.unknown().empty())
    model.notes.push_back(
        fmt::format("entries of config.json that headwater does not know were ignored: {}",
                    fmt::join(config.unknown(), ", ")));
  check(model, config);
  return model;
}

}  // namespace headwater
