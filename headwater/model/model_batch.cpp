#include "headwater/model/model_batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/image/read.h"
#include "headwater/model/model_description.h"
#include "headwater/model/model_source.h"
#include "headwater/model/predict.h"
#include "headwater/model/similarity.h"
#include "headwater/model/tokenizer/tokenizer.h"

namespace headwater {
namespace {

std::string count_text(uint64_t count) {
  if (count >= 10'000'000) return fmt::format("{:.0f} M", static_cast<double>(count) / 1e6);
  if (count >= 100'000) return fmt::format("{:.1f} M", static_cast<double>(count) / 1e6);
  return std::to_string(count);
}

void check_kind(const Model& model, const ModelInput& input) {
  const int kinds =
      !input.texts.empty() + !input.prompts.empty() + !input.ids.empty() + !input.images.empty();
  if (kinds > 1 || (input.pair && input.texts.size() != 1))
    fail_usage(
        "{}: was given {}, expected one text, prompt, file of texts, list of ids or image; choose "
        "one",
        model.name(), kinds > 1 ? "several kinds of input" : "`text_pair` without one `text`");
  const bool sees = model.architecture().image.has_value();
  if (sees != !input.images.empty())
    fail("{}: is a model of {} ({}), expected {} for it; give {}", model.name(),
         sees ? "images" : "text", model.architecture().family, sees ? "an image" : "a text",
         sees ? "`image`" : "`text`");
  if (sees && input.truncate)
    fail_usage("{}: `truncate` cuts texts, expected none for a model of images; leave it out",
               model.name());
  if (!input.prompts.empty() && !model.has_language_head())
    fail(
        "{}: is a {} model that cannot predict the next word, expected a causal language model for "
        "a prompt; give `text`",
        model.name(), model.architecture().family);
}

void check_length(const Model& model, const ModelInput& input, const std::string& what,
                  size_t tokens) {
  const std::optional<int> most = model.architecture().positions;
  if (most && tokens > static_cast<size_t>(*most))
    fail("{}: {} has {} tokens, expected at most {}, the positions of the model; shorten it{}",
         model.name(), what, tokens, *most,
         input.advise_truncate ? ", or cut it with `truncate`" : "");
}

std::string cut_note(const std::string& what, size_t tokens, size_t kept) {
  return fmt::format("{} was cut from {} tokens to {}, the positions of the model", what, tokens,
                     kept);
}

}  // namespace

ModelBatch::Item ModelBatch::text_item(const std::string& text, const ModelInput& input,
                                       const std::string& what) const {
  const Tokenizer* tokenizer = model_->tokenizer();
  if (!tokenizer)
    fail(
        "{}: has no tokenizer (tokenizer.json, vocab.txt, vocab.json with merges.txt or a "
        "SentencePiece model), expected one for a text; give `ids`, or save the tokenizer "
        "with save_pretrained of transformers",
        model_->name());
  std::optional<size_t> limit;
  if (input.truncate && model_->architecture().positions)
    limit = static_cast<size_t>(*model_->architecture().positions);
  Encoding encoding = tokenizer->encode(text, input.pair, true, limit);
  size_t count = encoding.size();
  if (!input.prompts.empty())
    while (count > 1 && encoding.sequences[count - 1] < 0) --count;
  encoding.ids.resize(count);
  encoding.tokens.resize(count);
  encoding.types.resize(count);
  if (std::ranges::all_of(encoding.sequences, [](int sequence) { return sequence < 0; }))
    fail("{}: {} has no tokens of its own, expected at least one; give a longer text",
         model_->name(), what);
  check_length(*model_, input, what, encoding.ids.size());
  Item item;
  item.notes = tokenizer->notes();
  if (encoding.cut > 0)
    item.notes.push_back(cut_note(what, encoding.cut + encoding.ids.size(), encoding.ids.size()));
  item.description = description_;
  item.description.tokens = std::move(encoding.tokens);
  item.description.ids = encoding.ids;
  for (size_t t = 0; t < encoding.ids.size(); ++t)
    item.description.places.push_back(
        {encoding.sequences[t], encoding.offsets[t].begin, encoding.offsets[t].end});
  item.description.texts = {text};
  if (input.pair) item.description.texts.push_back(*input.pair);
  item.text = {std::move(encoding.ids), std::move(encoding.types)};
  return item;
}

ModelBatch::Item ModelBatch::ids_item(const ModelInput& input) const {
  Item item;
  item.description = description_;
  item.text.ids = input.ids;
  const std::optional<int> most = model_->architecture().positions;
  if (input.truncate && most && item.text.ids.size() > static_cast<size_t>(*most)) {
    item.notes.push_back(cut_note("the input", item.text.ids.size(), static_cast<size_t>(*most)));
    item.text.ids.resize(static_cast<size_t>(*most));
  }
  check_length(*model_, input, "`ids`", item.text.ids.size());
  item.description.ids = item.text.ids;
  for (const int id : item.text.ids) item.description.tokens.push_back(model_->token_name(id));
  model_->embed(item.text);  // fails early if an id is outside the vocabulary
  return item;
}

ModelBatch::Item ModelBatch::image_item(const std::string& path,
                                        const ImageProcessor& processor) const {
  const Image image = read_image(path);
  Item item;
  item.pixels = processor.apply(image);
  const ImageEmbedding& grid = *model_->architecture().image;
  const int rows = item.pixels.height / grid.patch, columns = item.pixels.width / grid.patch;
  item.description = description_;
  item.description.patches =
      patch_grid_of(image, item.pixels.seen, rows, columns, model_->image_prefix());
  const size_t own = grid.prefix.size();
  if (own > 0) item.description.tokens.push_back("[CLS]");
  if (own > 1) item.description.tokens.push_back("[DISTILLATION]");
  for (int k = 0; k < grid.register_count; ++k)
    item.description.tokens.push_back(fmt::format("[REGISTER {}]", k));
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) item.description.tokens.push_back(fmt::format("{},{}", y, x));
  model_->embed(item.pixels);  // fails early if the model does not take this size
  return item;
}

ModelBatch::ModelBatch(std::shared_ptr<const Model> model, const ModelInput& input,
                       const std::string& name)
    : ModelBatch(std::move(model), input, name, {}) {}

ModelBatch::ModelBatch(std::shared_ptr<const Model> model, const ModelInput& input,
                       const std::string& name, const BadText& bad)
    : model_(std::move(model)), description_(model_description(*model_)) {
  // Without an input, a model's path says more than the name it was opened by.
  description_.name = input.empty() ? model_->folder() : name;
  if (input.empty()) return;
  check_kind(*model_, input);
  if (!input.images.empty()) {
    const ImageProcessor processor = ImageProcessor::open(model_->folder());
    for (const std::string& path : input.images) items_.push_back(image_item(path, processor));
  } else if (!input.ids.empty()) {
    items_.push_back(ids_item(input));
  } else {
    const std::vector<std::string>& texts = input.texts.empty() ? input.prompts : input.texts;
    const std::string one = input.texts.empty() ? "the prompt" : "the text";
    for (size_t k = 0; k < texts.size(); ++k) {
      try {
        items_.push_back(
            text_item(texts[k], input, texts.size() == 1 || bad ? one : fmt::format("text {}", k)));
      } catch (const Error& error) {
        if (!bad) throw;
        bad(k, error);
      }
    }
  }
  if (input.against_text || input.against_image) compare(input);
  for (size_t k = 0; k < items_.size(); ++k) {
    items_[k].description.item = static_cast<int>(k);
    items_[k].description.items = static_cast<int>(items_.size());
    items_[k].description.padded = static_cast<int>(items_[k].description.tokens.size());
  }
}

std::unique_ptr<Source> ModelBatch::item(int k) {
  const Item& item = items_[static_cast<size_t>(k)];
  if (item.description.patches)
    return std::make_unique<ModelSource>(model_, item.description, item.pixels, item.notes,
                                         item.head);
  return std::make_unique<ModelSource>(model_, item.description, item.text, item.notes, item.head);
}

namespace {

// Says what sentence-transformers would have read instead; `which` text it is.
void note_reading(const Pooling& pooling, const char* which, const Description& text,
                  std::vector<std::string>& notes) {
  const size_t n = text.tokens.size();
  if (pooling.longest > 0 && n > static_cast<size_t>(pooling.longest))
    notes.push_back(fmt::format(
        "{} has {} tokens, all of which were read; sentence-transformers cuts texts to {} for this "
        "model",
        which, n, pooling.longest));
  if (!pooling.prompt.empty())
    notes.push_back(fmt::format(
        "{} was read as it is; sentence-transformers puts '{}' before texts for this model", which,
        pooling.prompt));
  const auto upper = [](const std::string& token) {
    return std::ranges::any_of(token, [](char c) { return c >= 'A' && c <= 'Z'; });
  };
  bool found = false;
  for (size_t t = 0; t < n && t < text.places.size(); ++t)
    found = found || (text.places[t].text >= 0 && upper(text.tokens[t]));
  if (pooling.lowers && found)
    notes.push_back(fmt::format(
        "{} was read as it is; sentence-transformers lowercases texts for this model", which));
}

}  // namespace

// SigLIP has seen texts only with padding, and reads the last row.
void ModelBatch::pad(const Model& model, Item& item) {
  const Pooling pooling = read_pooling(model);
  const int n = static_cast<int>(item.text.ids.size());
  if (item.description.patches || n >= pooling.padded_to) return;
  for (int t = n; t < pooling.padded_to; ++t) {
    item.text.ids.push_back(pooling.padding);
    if (!item.text.types.empty()) item.text.types.push_back(0);
    item.description.ids.push_back(pooling.padding);
    item.description.tokens.push_back(model.token_name(pooling.padding));
    if (!item.description.places.empty()) item.description.places.push_back({-1, 0, 0});
  }
}

// Gives each item the similarity to the other input as its head.
void ModelBatch::compare(const ModelInput& input) {
  if (input.against_text && input.against_image)
    fail_usage("{}: was given a text and an image to compare with, expected one; leave one out",
               model_->name());
  ModelInput other;
  other.truncate = input.truncate;
  other.ignore_code = input.ignore_code;
  if (input.against_text) other.texts = {*input.against_text};
  if (input.against_image) other.images = {*input.against_image};
  const bool sees = model_->architecture().image.has_value();
  std::shared_ptr<const Model> with = model_;
  if (sees != input.against_image.has_value())
    with = Model::open(model_->folder(), input.ignore_code, sees ? Side::text : Side::image,
                       model_->name());
  ModelBatch batch(with, other, description_.name);
  Item& item = batch.items_.front();
  pad(*with, item);
  for (Item& own : items_) pad(*model_, own);
  Matrix embedded = item.description.patches ? with->embed(item.pixels) : with->embed(item.text);
  const Trace run = trace(*with, std::move(embedded));
  const Vector vector = unit_vector(read_pooling(*with), item.text.ids, run.finished);
  const Pooling pooling = read_pooling(*model_);
  const Similarity::Scale scale =
      with == model_ ? Similarity::Scale() : Similarity::read_scale(model_->checkpoint());
  const int columns = pooling.project.weights.outputs > 0 ? pooling.project.weights.outputs
                                                          : model_->architecture().width;
  if (static_cast<size_t>(columns) != vector.size())
    fail(
        "{}: makes vectors of {} numbers from one input and of {} from the other, expected the "
        "same "
        "size; check the weights",
        model_->name(), columns, vector.size());
  for (Item& own : items_) {
    note_reading(pooling, "the text", own.description, own.notes);
    note_reading(pooling, "the other text", item.description, own.notes);
    own.head = std::make_shared<Similarity>(
        pooling, own.text.ids, vector,
        input.against_text ? *input.against_text : *input.against_image, scale);
  }
}

std::vector<std::unique_ptr<Source>> ModelBatch::together(std::span<const int> items) {
  std::vector<std::unique_ptr<Source>> out;
  const auto spare = std::make_shared<std::vector<LayerState>>();
  for (size_t first = 0; first < items.size();) {
    std::vector<PackedText> texts;
    size_t tokens = 0, end = first;
    for (; end < items.size(); ++end) {
      const size_t n = items_[static_cast<size_t>(items[end])].text.ids.size();
      const Item& next = items_[static_cast<size_t>(items[end])];
      if (model_->places() || next.head || !Pack::takes(n) ||
          (end > first && tokens + n > Pack::tokens))
        break;
      tokens += n;
      const Item& one = items_[static_cast<size_t>(items[end])];
      texts.push_back({one.description, one.text});
    }
    if (texts.size() < 2) {
      out.push_back(item(items[first]));
      ++first;
      continue;
    }
    const auto pack = std::make_shared<Pack>(model_, std::move(texts), spare);
    for (size_t place = 0; first < end; ++first, ++place) {
      const Item& one = items_[static_cast<size_t>(items[first])];
      out.push_back(std::make_unique<ModelSource>(model_, one.description, one.text, one.notes,
                                                  one.head, pack, place));
    }
  }
  return out;
}

std::string ModelBatch::reading() const {
  const Architecture& shape = model_->architecture();
  std::string text =
      fmt::format("{} model, {} wide, {} parameters, {}", shape.family, shape.width,
                  count_text(model_->checkpoint().parameters()), model_->checkpoint().types());
  if (shape.positions && shape.text) text += fmt::format(", at most {} tokens", *shape.positions);
  for (const std::string& note : shape.notes) text += "; " + note;
  return text;
}

std::optional<ModelFacts> ModelBatch::facts() const {
  const Architecture& shape = model_->architecture();
  ModelFacts facts;
  facts.family = shape.family;
  if (shape.text) facts.positions = shape.positions;
  facts.windows = shape.windows;
  facts.parameters = model_->checkpoint().parameters();
  facts.types = model_->checkpoint().types();
  describe_head(*model_, facts);
  return facts;
}

}  // namespace headwater
