#include "server/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/core/version.h"
#include "headwater/layer/resolve.h"
#include "headwater/model/classifier.h"
#include "headwater/model/config.h"
#include "headwater/model/find_model.h"
#include "headwater/model/model_batch.h"
#include "headwater/model/model_generation.h"
#include "headwater/output/json.h"
#include "headwater/output/page/page.h"
#include "headwater/result/add_prediction.h"
#include "headwater/source/file.h"
#include "server/compute.h"
#include "server/dropped_file.h"
#include "server/watched_generation.h"

namespace headwater::server {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_examples = 12;
constexpr size_t most_classes = 200;

bool can_answer(const Model& model) {
  try {
    model.classifier();
    return true;
  } catch (const Error&) {
    return model.has_language_head();
  }
}

// A model's folder may have examples, one JSON object a line. They only save typing, so a malformed
// file simply gives none.
template <class Take>
void each_example(const std::string& folder, const Take& take) {
  std::ifstream file(fs::path(folder) / "examples.jsonl");
  std::string line;
  try {
    for (size_t k = 0; k < most_examples && std::getline(file, line); ++k)
      take(Config::parse(line, "examples.jsonl"));
  } catch (const Error&) {
  }
}

void name_source(Result& result, const std::string& name) {
  if (auto* one = std::get_if<Attribution>(&result)) one->source.name = name;
  if (auto* all = std::get_if<Comparison>(&result))
    for (Attribution& panel : all->panels) panel.source.name = name;
}

// A text for the model to continue, as the relevance command takes it.
bool as_prompt(const Question& question, const Model& model) {
  return question.method == "generate" ||
         (question.method == "relevance" && model.has_language_head());
}

std::string page_of(const Result& result, const std::string& command) {
  WriteOptions options;
  options.command = command;
  return page_data({ResultView(result)}, options);
}

std::string answer_file(const Question& question, Listener& listener) {
  if (!is_attention_file(question.file->name))
    fail(
        "{}: is not a file of attention by its ending, expected .npy, .npz, .safetensors or .json; "
        "drop another, or an image on a model of images",
        question.file->name);
  const DroppedFile file(*question.file);
  try {
    const std::unique_ptr<Batch> batch = open_file(file.path());
    if (!question.item && batch->size() > 1)
      fail("{}: holds a batch of {}, expected one item; choose it with `item`", file.path(),
           batch->size());
    WatchedSource source(
        batch->item(resolve_index(question.item.value_or(0), batch->size(), "item", file.path())),
        watch_for(listener));
    Result result = compute(question, source, nullptr, listener);
    name_source(result, question.file->name);
    return page_of(result, command_of(question, false));
  } catch (const Error& error) {
    throw Error(file.in_its_words(error.what()), error.kind());
  }
}

}  // namespace

ServedModels::ServedModels(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Served one;
    one.name = name;
    one.model = open_model(name);
    one.has_targets = can_answer(*one.model);
    const std::string& folder = one.model->folder();
    each_example(folder, [&](const Config& example) {
      for (const char* key : {"text", "prompt"})
        if (example.has(key)) one.texts.push_back(example.text(key));
      if (example.has("image"))
        one.images.push_back((fs::path(folder) / example.text("image")).string());
    });
    models_.push_back(std::move(one));
  }
}

std::string ServedModels::menu() {
  std::vector<Document> models;
  for (const Served& one : models_) {
    const Architecture& shape = one.model->architecture();
    std::vector<std::string> classes = shape.labels, images;
    if (classes.size() > most_classes) classes.resize(most_classes);
    for (const std::string& path : one.images) images.push_back(fs::path(path).filename().string());
    Document& out = models.emplace_back();
    out.fields = {{"name", one.name},
                  {"about", ModelBatch(one.model, {}, one.name).reading()},
                  {"sees", std::string(shape.image ? "image" : "text")},
                  {"writes", one.model->has_language_head()},
                  {"targets", one.has_targets},
                  {"layers", int64_t{shape.layers}},
                  {"classes", std::move(classes)},
                  {"texts", one.texts},
                  {"images", std::move(images)}};
  }
  std::vector<Document> known;
  for (const MethodWords& method : methods())
    known.emplace_back().fields = {{"name", std::string(method.name)},
                                   {"options", words_of(method.options)}};
  Document menu;
  menu.fields = {{"headwater", std::string(version())},
                 {"methods", std::move(known)},
                 {"files", true},
                 {"models", std::move(models)}};
  return json_line(menu);
}

const ServedModels::Served& ServedModels::find(const std::string& name) const {
  const auto found = std::ranges::find(models_, name, &Served::name);
  if (found != models_.end()) return *found;
  std::vector<std::string_view> names;
  for (const Served& one : models_) names.push_back(one.name);
  fail("model '{}': is not served here{}", name, suggestion(name, names));
}

std::string ServedModels::answer(const Question& question, Listener& listener) {
  if (question.file) return answer_file(question, listener);
  try {
    return answer_by_model(question, listener);
  } catch (const Error& error) {
    std::string sentence = error.what();
    for (const Served& one : models_)
      sentence = renamed(std::move(sentence), one.model->folder(), one.name);
    throw Error(sentence, error.kind());
  }
}

std::string ServedModels::answer_by_model(const Question& question, Listener& listener) {
  const Served& served = find(question.model);
  const bool prompt = as_prompt(question, *served.model);
  if (question.method == "generate") {
    if (!question.text) fail("`text`: generate continues a text, expected one; type it");
    GenerationInput input{.reads = *question.text};
    const auto generation =
        watched(start_generation(served.model, input, served.name), listener, question.count);
    return page_of(compute(question, *generation), command_of(question, prompt));
  }
  ModelInput input;
  input.advise_truncate = false;
  std::optional<DroppedFile> image;
  if (question.text) (prompt ? input.prompts : input.texts) = {*question.text};
  input.pair = question.pair;
  if (question.image) input.images = {image.emplace(*question.image).path()};
  Question spelled = question;  // for the command, which knows examples by their files
  if (question.example) {
    const int count = static_cast<int>(served.images.size());
    const int k = resolve_index(*question.example, count, "example", served.name);
    input.images = {served.images[static_cast<size_t>(k)]};
    spelled.image = Upload{input.images[0], ""};
  }
  try {
    ModelBatch batch(served.model, input, served.name);
    WatchedSource source(batch.item(0), watch_for(listener));
    std::optional<WatchedSource> other;
    if (!question.other.empty()) {
      const Served& second = find(question.other);
      other.emplace(ModelBatch(second.model, input, second.name).item(0), watch_for(listener));
    }
    Result result = compute(question, source, other ? &*other : nullptr, listener);
    if (Differentiable* model = source.differentiable()) add_prediction(result, *model);
    return page_of(result, command_of(spelled, prompt));
  } catch (const Error& error) {
    throw Error(image ? image->in_its_words(error.what()) : error.what(), error.kind());
  }
}

}  // namespace headwater::server
