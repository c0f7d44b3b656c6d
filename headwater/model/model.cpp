#include "headwater/model/model.h"

#include <algorithm>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/model/classifier.h"
#include "headwater/model/convolution.h"
#include "headwater/model/distance_bias.h"
#include "headwater/model/norm.h"
#include "headwater/model/pooling.h"
#include "headwater/model/soft_cap.h"
#include "headwater/model/tokenizer/tokenizer.h"
#include "headwater/model/unused.h"
#include "headwater/model/weight_files.h"

namespace headwater {
namespace {

// A model with a classifier keeps its body under a prefix: bert.encoder... instead of encoder...
std::string find_prefix(const Architecture& model, Checkpoint& checkpoint) {
  std::vector<std::string> probes;
  for (const std::string& prefix : model.prefixes) probes.push_back(prefix + model.probe);
  checkpoint.unwrap(probes);
  for (const std::string& prefix : model.prefixes)
    if (checkpoint.has(prefix + model.probe)) return prefix;
  fail(
      "{}: has no tensor '{}', with or without {} before it, expected the weights of a {} model; "
      "check that weights and config.json belong together",
      checkpoint.name(), model.probe, model.prefixes.back(), model.family);
}

// A folder without config.json.
[[noreturn]] void refuse_folder(const std::string& folder) {
  const auto is_there = [&](const char* name) {
    std::error_code missing;
    return std::filesystem::exists(std::filesystem::path(folder) / name, missing);
  };
  for (const char* own : {"model.safetensors", "pytorch_model.bin", "tokenizer_config.json"})
    if (is_there(own))
      fail(
          "{}: is a folder without config.json, with {}, expected all files of the model; get it "
          "again, for example with hf download",
          folder, own);
  if (is_there("model_index.json"))
    fail(
        "{}: is a pipeline of diffusers, expected a model as transformers saves it; give a folder "
        "inside it",
        folder);
  if (const auto other = what_else(folder)) fail("{}: {}", folder, *other);
  fail(
      "{}: is a folder without config.json, expected a model as transformers saves it; check the "
      "name",
      folder);
}

}  // namespace

std::unique_ptr<Model> Model::open(const std::string& place, bool ignore_code, Side side,
                                   const std::string& name) {
  const std::string folder = first_module(place);
  const std::filesystem::path path = std::filesystem::path(folder) / "config.json";
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) refuse_folder(folder);
  Config config = Config::open(path.string());
  Architecture architecture = describe(config, ignore_code, side);
  auto model =
      std::make_unique<Model>(std::move(config), std::move(architecture), Checkpoint::open(folder));
  model->name_ = name;
  return model;
}

Model::Model(Config config, Architecture architecture, Checkpoint checkpoint)
    : config_(std::move(config)),
      architecture_(std::move(architecture)),
      checkpoint_(std::move(checkpoint)) {
  for (const std::string& note : checkpoint_.notes()) architecture_.notes.push_back(note);
  prefix_ = find_prefix(architecture_, checkpoint_);
  layers_ = ModelBlocks(architecture_, checkpoint_, prefix_);
  bind_distances();
  if (architecture_.convolution)
    convolution_ = std::make_unique<Convolution>(architecture_, checkpoint_, prefix_);
  refuse_unused(architecture_, checkpoint_, checkpoint_.outer() + prefix_);
  if (architecture_.text)
    text_ = std::make_unique<TextEmbedder>(architecture_, checkpoint_, prefix_);
  if (architecture_.image)
    image_ = std::make_unique<ImageEmbedder>(architecture_, checkpoint_, prefix_);
  if (!architecture_.final_norm.empty())
    final_norm_ = bind_norm(checkpoint_, prefix_ + architecture_.final_norm, architecture_.norm,
                            architecture_.width);
  for (const ClassifierNames& head : architecture_.classifiers) {
    if (head.kind != ClassifierNames::Kind::next_words) continue;
    language_cap_ = head.cap;
    language_scale_ = head.scale;
    const int inputs = head.to_word_size ? architecture_.text->size : architecture_.width;
    language_dense_ = bind_linear(checkpoint_, head.dense_in_body ? prefix_ : "", head.dense,
                                  inputs, architecture_.width);
    if (checkpoint_.has(head.out + ".weight"))
      language_head_ =
          bind_linear(checkpoint_, "", {head.out, false}, architecture_.text->vocabulary, inputs);
    else if (head.tied)
      language_head_.weights = text_->words();
    if (const int64_t words = architecture_.text->vocabulary; checkpoint_.has(head.out_bias))
      language_head_.bias = checkpoint_.vector(head.out_bias, {1, words});
  }
}

// What belongs to no block in particular, although it may be stored in one.
void Model::bind_distances() {
  const DistanceNames& distances = architecture_.distance_bias;
  if (!distances.table.empty()) {
    const std::string name = prefix_ + distances.table;
    const std::vector<int64_t> shape = checkpoint_.shape(name);
    constexpr int64_t most = 1 << 16;
    if (shape.size() != 2 || shape[0] < distances.buckets || shape[0] > most)
      fail("{}: tensor '{}' is {}, expected at least {} buckets; check the weights", this->name(),
           name, shape_text(shape), distances.buckets);
    distance_bias_ = Matrix(static_cast<int>(shape[0]), architecture_.heads);
    std::ranges::copy(checkpoint_.vector(name, {shape[0], architecture_.heads}),
                      distance_bias_.data());
  }
  if (architecture_.places) places_ = std::make_unique<Places>(architecture_, checkpoint_, prefix_);
}

Model::~Model() = default;

const Classifier& Model::classifier() const {
  return *classifier_.get([&] { return std::make_unique<Classifier>(*this); });
}

const Tokenizer* Model::tokenizer() const {
  return tokenizer_.get([&]() -> std::unique_ptr<Tokenizer> {
    if (!architecture_.text) return nullptr;
    auto tokenizer = Tokenizer::open_folder(folder(), architecture_.family);
    return tokenizer ? std::make_unique<Tokenizer>(std::move(*tokenizer)) : nullptr;
  });
}

std::string Model::token_name(int id) const {
  const Tokenizer* words = tokenizer();
  return words && words->knows(id) ? words->token_of(id) : std::to_string(id);
}

Matrix Model::embed(const TextInput& input, int first) const {
  if (!text_)
    fail("{}: is a model of images ({}), expected one of text; give an `image`", name(),
         architecture_.family);
  return text_->embed(input, first);
}

Matrix Model::embed(const Pixels& pixels) const {
  if (!image_)
    fail("{}: is a model of text ({}), expected one of images; give a `text`", name(),
         architecture_.family);
  return image_->embed(pixels);
}

Matrix Model::distances(int n) const {
  if (distance_bias_.rows() == 0) return {};
  return spread_distances(distance_bias_, architecture_.distance_bias, n);
}

void Model::finish(MatrixView hidden, MatrixSpan out) const {
  if (!final_norm_.weight.empty()) {
    apply_norm(architecture_, final_norm_, hidden, out);
    return;
  }
  if (out.data() == hidden.data()) return;
  for (int t = 0; t < hidden.rows(); ++t) std::ranges::copy(hidden.row(t), out.row(t).begin());
}

void Model::finish_backward(MatrixView hidden, Propagation& how, MatrixSpan gradient) const {
  if (final_norm_.weight.empty()) return;
  apply_norm_backward(architecture_, final_norm_, hidden, how, gradient, kernel::Into::store,
                      gradient);
}

void Model::logits(MatrixView finished, MatrixSpan out) const {
  uncapped_logits(finished, out);
  cap_logits(language_cap_, out);
}

void Model::uncapped_logits(MatrixView finished, MatrixSpan out) const {
  Matrix dense;
  if (language_dense_.weights.outputs > 0) {
    dense = Matrix(finished.rows(), language_dense_.weights.outputs);
    kernel::linear(finished, language_dense_.weights, {language_dense_.bias, {}, {}}, dense);
    finished = dense;
  }
  kernel::linear(finished, language_head_.weights, {language_head_.bias, {}, {}}, out);
  if (language_scale_ != 1)
    for (int t = 0; t < out.rows(); ++t)
      for (float& logit : out.row(t)) logit *= language_scale_;
}

void Model::add_logit_gradient(MatrixView finished, int id, kernel::Slope slope,
                               std::span<float> gradient) const {
  Matrix row(1, language_head_.weights.inputs);
  copy_row(language_head_.weights, id, row.row(0));
  if (language_dense_.weights.outputs > 0) {
    Matrix wide(1, language_dense_.weights.inputs);
    kernel::linear(row, kernel::transposed(language_dense_.weights), {}, wide);
    row = std::move(wide);
  }
  double logit = 0;
  for (size_t d = 0; d < row.size(); ++d) logit += double{row.data()[d]} * finished.row(0)[d];
  const auto factor = language_scale_ * static_cast<float>(cap_slope(language_cap_, logit, slope));
  for (size_t d = 0; d < row.size(); ++d) gradient[d] += factor * row.data()[d];
}

void Model::add_logit_gradients(MatrixView finished, MatrixView weights, kernel::Slope slope,
                                MatrixSpan gradient) const {
  Matrix factors(1, weights.columns());
  if (language_cap_ != 0) uncapped_logits(finished, factors);
  for (int v = 0; v < weights.columns(); ++v)
    factors(0, v) = weights(0, v) * language_scale_ *
                    static_cast<float>(cap_slope(language_cap_, double{factors(0, v)}, slope));
  const kernel::Finish adds{{}, {}, kernel::Into::add};
  const kernel::Weights words = kernel::transposed(language_head_.weights);
  if (language_dense_.weights.outputs == 0) {
    kernel::linear(factors, words, adds, gradient);
    return;
  }
  Matrix dense(1, language_dense_.weights.outputs);
  kernel::linear(factors, words, {}, dense);
  kernel::linear(dense, kernel::transposed(language_dense_.weights), adds, gradient);
}

}  // namespace headwater
